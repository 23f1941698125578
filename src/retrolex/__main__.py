"""``python -m retrolex``."""

from retrolex.cli import main

main()
