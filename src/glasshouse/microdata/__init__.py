# SPDX-License-Identifier: Apache-2.0
"""What comes in: tables with roles and domains, coded to integers; counts and groups; example and synthetic tables."""

from glasshouse.microdata.counts import Counts
from glasshouse.microdata.domains import Column, Domain
from glasshouse.microdata.groups import Groups
from glasshouse.microdata.table import Microdata, read
from glasshouse.microdata.taxonomy.taxonomy import Taxonomy

__all__ = ["Column", "Counts", "Domain", "Groups", "Microdata", "Taxonomy", "read"]
