"""The page: one HTML document that holds everything it needs."""

from __future__ import annotations

from retrolex import __version__
from retrolex.evaluation.report import sections
from retrolex.evaluation.report.data import ReportData
from retrolex.evaluation.report.style import CSS, SCRIPT
from retrolex.evaluation.report.text import escape

SECTIONS = {
    "results": ("Results", sections.results),
    "cost": ("Quality against cost", sections.costs),
    "queries": ("Where it wins and loses", sections.changes),
    "training": ("Training", sections.training),
    "sparsity": ("Sparsity", sections.sparsity),
    "policy": ("How it was measured", sections.policy),
    "configuration": ("Configuration", sections.configuration),
    "reproduce": ("Reproduce it", sections.reproduce),
}


def render(data: ReportData) -> str:
    """The report as one self-contained HTML document: the answer, what it rests on, and how to get it again."""
    bodies = {name: (title, body) for name, (title, section) in SECTIONS.items() if (body := section(data))}
    links = "".join(f'<li><a href="#{name}">{title}</a></li>' for name, (title, _) in bodies.items())
    facts = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in data.facts.items())
    parts = "".join(
        f'<section id="{name}" aria-labelledby="{name}-title"><h2 id="{name}-title">{title}</h2>{body}</section>\n'
        for name, (title, body) in bodies.items()
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="retrolex {__version__}">
<title>{escape(data.headline)} – {escape(data.title)}</title>
<style>{CSS}</style>
</head>
<body>
<a class="skip off" href="#results">To the results</a>
<div class="wrap">
<header>
<p class="eyebrow">{escape(data.title)}</p>
<h1>{escape(data.headline)}</h1>
<p class="lead">{escape(data.detail)}</p>
{f'<dl class="facts">{facts}</dl>' if facts else ""}
<nav aria-label="Contents"><ul>{links}</ul></nav>
</header>
<main>
{parts}</main>
<footer><p>Made by retrolex {__version__}. This file needs no network.</p></footer>
</div>
<script>{SCRIPT}</script>
</body>
</html>
"""
