# SPDX-License-Identifier: Apache-2.0
"""PostgreSQL: addresses that hold no secret, connections, and refusals in our own words."""

from glasshouse.database.address import Address, is_address, literal, masked, quoted, split_name
from glasshouse.database.connection import connected

__all__ = ["Address", "connected", "is_address", "literal", "masked", "quoted", "split_name"]
