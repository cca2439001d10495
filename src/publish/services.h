// SPDX-License-Identifier: Apache-2.0
// The figures of a finished session as services of others take them. docs/services.md.
#ifndef ETP_PUBLISH_SERVICES_H
#define ETP_PUBLISH_SERVICES_H

#include "archive/archive.h"
#include "base/sink.h"

// Records of PyTorch's benchmark database, v3 (the HUD): a JSON array, a record for each metric of
// each arm. What the uploading job knows (repository, commit, job) is left to its uploader.
void etp_service_hud(const etp_archive_session *s, etp_sink *sink);

// github-action-benchmark: customSmallerIsBetter (latency) or, BIGGER, customBiggerIsBetter
// (speedup, tokens a second). ARENA is for texts on the way; who writes the document asks it.
void etp_service_github(const etp_archive_session *s, bool bigger, etp_arena *arena,
                        etp_sink *sink);

// OpenMetrics 1.0 text: gauges, an interval's ends beside each estimate, no time stamps.
void etp_service_openmetrics(const etp_archive_session *s, etp_sink *sink);
#endif
