//! Tables, CSV and JSON from a .kreplay file.
