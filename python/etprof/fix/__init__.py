# SPDX-License-Identifier: Apache-2.0
"""`etprof fix`: applies what an answer proposes, measures it and says what it brought."""
