// SPDX-License-Identifier: Apache-2.0
// "Did you mean": the known word that a mistyped one is nearest to.
#ifndef ETP_BASE_SUGGEST_H
#define ETP_BASE_SUGGEST_H

// Nearest candidate within two edits, or NULL. CANDIDATES is NULL-terminated.
const char *etp_suggest(const char *word, const char *const *candidates);

#endif
