# SPDX-License-Identifier: Apache-2.0
"""PostgreSQL: addresses that hold no secret, connections, and refusals in our own words."""

from glasshouse.database.address import Address, is_address, masked
from glasshouse.database.connection import connected
from glasshouse.database.names import literal, quoted, split_name

__all__ = ["Address", "connected", "is_address", "literal", "masked", "quoted", "split_name"]
