//! The .kreplay file: schema, writer, reader, versions.
