# SPDX-License-Identifier: Apache-2.0
"""What builds and checks the documentation: pictures, the reference, and the built site."""
