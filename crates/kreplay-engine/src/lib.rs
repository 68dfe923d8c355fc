//! The replay engine: inventory, shadow, windows, checks. Knows no vendor.
