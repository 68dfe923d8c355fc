//! The conformance suite on the in-memory agent.

kreplay_engine::conformance_suite!(kreplay_engine::conformance::MemoryRig);
