"""The doctor: reads a source once, says what is wrong with it, where, and how to mend it; changes nothing."""

from retrolex.collection.doctor.examine import Report, examine
from retrolex.collection.doctor.findings import Example, Finding

__all__ = ["Example", "Finding", "Report", "examine"]
