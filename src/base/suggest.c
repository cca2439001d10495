// SPDX-License-Identifier: Apache-2.0
// The distance of two words is the least number of letters that have to be put in, left out or
// changed.
#include "base/suggest.h"
#include "base/choice.h"

#include <stdint.h>
#include <string.h>

// Levenshtein's, with one row of the table: ROW[j] is the distance of the letters of A so far to
// the first J of B. Longer words are none of ours.
static size_t edit_distance(const char *a, const char *b)
{
    size_t n = strlen(b);
    size_t row[64];
    if (n >= sizeof row / sizeof *row) {
        return SIZE_MAX;
    }
    for (size_t j = 0; j <= n; j++) {
        row[j] = j;
    }
    for (size_t i = 1; a[i - 1]; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t cost = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            cost = ETP_MIN(cost, row[j] + 1);
            row[j] = ETP_MIN(cost, row[j - 1] + 1);
        }
    }
    return row[n];
}

const char *etp_suggest(const char *word, const char *const *candidates)
{
    const char *best = NULL;
    // Two slips of the finger, and fewer than the word has letters: else every short word would be
    // like every other.
    size_t best_distance = 3;
    for (; *candidates; candidates++) {
        size_t d = edit_distance(word, *candidates);
        if (d < best_distance && d < strlen(word)) {
            best = *candidates;
            best_distance = d;
        }
    }
    return best;
}
