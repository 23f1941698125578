"""The report: one HTML file that answers the question first and shows what the answer rests on."""
