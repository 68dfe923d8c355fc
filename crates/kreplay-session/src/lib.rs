//! What every backend needs inside the profiled program: settings, link, recorder.
