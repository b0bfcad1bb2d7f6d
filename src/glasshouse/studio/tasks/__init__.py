# SPDX-License-Identifier: Apache-2.0
"""The work of the studio in separate processes: one file for each step.

A task is a function that takes ``tell`` (see ``Tell`` in the file of jobs) and what it needs, by keyword, and gives
plain data that can be pickled. It reads the table again: no table is held by the server.
"""
