// A campaign done several times, each time as a session of its own.
#pragma once

#include <functional>

#include "harness/session/session.hpp"

namespace amasia {

/// One complete pass: `before` is the device and its state as they are when it begins.
using Pass = std::function<SessionOutcome(const Provenance& before, const SessionOptions& options)>;

/// Every session is a run with a file of its own beside `options.out` ("run.session-2.json"), with
/// all that makes a run survive; at the end they become the sessions of `out`, and go. With resume,
/// finished sessions are kept, and a finished `out` of fewer sessions gets the missing ones.
/// `pause`: seconds before each session but the first. Throws as Journal::open() and run_session().
SessionOutcome run_sessions(int count, double pause, const SessionOptions& options,
                            const Pass& pass);

}  // namespace amasia
