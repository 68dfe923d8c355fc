//! libhsa-amd-aqlprofile64.so of the software GPU: simulated counters through the vendor interface.
