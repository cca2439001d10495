# SPDX-License-Identifier: Apache-2.0
"""`etprof validate`: are files well formed, and do their numbers agree with each other?"""
