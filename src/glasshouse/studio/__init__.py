# SPDX-License-Identifier: Apache-2.0
"""The studio: a web application on the steward's own machine, from a file to a release.

`server` binds to this machine alone and serves `application`, behind `guard`, which refuses every request that does not
come from the page that was opened. A `desk` holds what was decided, as the choices that a policy or a command line
would make, and what was found; long work is a `job` in a process of its own, whose functions are in ``tasks``. The five
steps are the files of ``steps``; each has its routes, and a template of the same name. The first of them opens a table
(`open_table`), takes files (`upload`), and makes trees of values (`taxonomies`).

Everything goes through the public names of the package: each click is shown to them as a command, as a call of Python,
and as a policy that do the same (`spelling`). `place` looks at the folder that a release goes to.
"""

from __future__ import annotations

from glasshouse.studio.server import serve

__all__ = ["serve"]
