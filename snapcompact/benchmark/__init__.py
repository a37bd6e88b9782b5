"""The compression benchmark: shapes, readers, probes, reports, data sets."""
