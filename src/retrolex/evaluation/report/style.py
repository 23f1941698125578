"""The report's style sheet and its one script. Nothing is fetched: system fonts, colours by variable, light and dark."""

from __future__ import annotations

LIGHT = {
    "page": "#fbfbf9",
    "panel": "#ffffff",
    "text": "#1b2220",
    "soft": "#57625e",
    "rule": "#dfe3de",
    "good": "#0a6a5c",
    "bad": "#a13a22",
    "plain": "#66716d",
    "mark": "#d9efe7",
    "c1": "#0a6a5c",
    "c2": "#a13a22",
    "c3": "#35589e",
    "c4": "#7d5a00",
    "c5": "#7a3d86",
}
DARK = {
    "page": "#131716",
    "panel": "#1a1f1e",
    "text": "#e5e9e6",
    "soft": "#a3aea9",
    "rule": "#323a37",
    "good": "#62cdb7",
    "bad": "#f09a80",
    "plain": "#98a39f",
    "mark": "#1f4a41",
    "c1": "#62cdb7",
    "c2": "#f09a80",
    "c3": "#92b2f2",
    "c4": "#dcb45a",
    "c5": "#d29be0",
}


def _variables(colours: dict[str, str]) -> str:
    return "".join(f"--{name}:{value};" for name, value in colours.items())


CSS = (
    f":root{{color-scheme:light dark;{_variables(LIGHT)}}}\n"
    f"@media (prefers-color-scheme:dark){{:root{{{_variables(DARK)}}}}}\n"
    f"@media print{{:root{{color-scheme:light;{_variables(LIGHT)}}}}}\n"
    + """
*{box-sizing:border-box;min-width:0}
html{-webkit-text-size-adjust:100%;scroll-behavior:smooth}
body{margin:0;background:var(--page);color:var(--text);overflow-wrap:anywhere;
font:1rem/1.6 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",sans-serif}
.wrap{max-width:66rem;margin:0 auto;padding:0 1.25rem}
h1,h2{font-family:Charter,"Bitstream Charter","Sitka Text",Cambria,Georgia,serif;font-weight:600;line-height:1.18;text-wrap:balance}
h1{font-size:clamp(1.75rem,1.2rem + 2.6vw,3rem);letter-spacing:-.015em;margin:.35rem 0 1rem;max-width:22em}
h2{font-size:1.5rem;letter-spacing:-.01em;margin:0 0 .35rem}
h3{font-size:1rem;font-weight:600;margin:1.75rem 0 .5rem}
h4{font-size:.875rem;font-weight:600;margin:0 0 .6rem;color:var(--soft)}
p{margin:0 0 1rem;max-width:44rem}
header{padding:3.5rem 0 1.75rem}
.eyebrow{color:var(--good);font-size:.875rem;font-weight:600;margin:0}
.lead{font-size:1.0625rem;color:var(--soft)}
.facts{display:flex;flex-wrap:wrap;gap:.75rem 2.25rem;margin:1.75rem 0 0;padding:1rem 0 0;border-top:1px solid var(--rule)}
.facts div{min-width:5rem}
dt{font-size:.8125rem;color:var(--soft)}
dd{margin:0;font-weight:600;font-variant-numeric:tabular-nums}
nav ul{display:flex;flex-wrap:wrap;gap:.1rem 1.25rem;margin:1.25rem 0 0;padding:0;list-style:none;font-size:.875rem}
nav a{display:inline-block;padding:.25rem 0}
a{color:var(--good);text-underline-offset:.2em}
section{padding:2.25rem 0;border-top:1px solid var(--rule)}
.note{color:var(--soft);font-size:.9375rem}
.scroll{overflow-x:auto;margin:1rem 0;background:var(--panel);border:1px solid var(--rule);border-radius:.5rem}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
caption{caption-side:bottom;text-align:left;padding:.75rem 1rem;color:var(--soft);font-size:.8125rem}
caption span{display:block;position:sticky;left:1rem;max-width:min(60rem,calc(100vw - 4.75rem))}
th,td{padding:.7rem 1rem;text-align:right;vertical-align:top;white-space:nowrap}
thead th{font-size:.8125rem;font-weight:600;color:var(--soft);border-bottom:1px solid var(--rule)}
tbody tr+tr>*{border-top:1px solid var(--rule)}
th:first-child{text-align:left;position:sticky;left:0;background:var(--panel)}
tbody th{font-weight:600;white-space:normal;overflow-wrap:break-word;min-width:7rem;max-width:20rem}
.chosen>*{background:color-mix(in srgb,var(--mark) 45%,var(--panel))}
.chosen>th:first-child{background:color-mix(in srgb,var(--mark) 45%,var(--panel))}
td b{font-weight:600}
.ci,.role{display:block;font-size:.8125rem;font-weight:400;color:var(--soft)}
.better{color:var(--good)}.worse{color:var(--bad)}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr));gap:1.5rem 2.5rem;margin:1.25rem 0 0}
figure{margin:0;max-width:34rem}
figcaption{font-size:.875rem;margin-bottom:.35rem}
figcaption b{font-weight:600}
figcaption span{color:var(--soft)}
svg{display:block;width:100%;height:auto;overflow:visible}
svg text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;fill:var(--text);font-variant-numeric:tabular-nums}
svg .tick,svg .label{fill:var(--soft)}
svg .halo{paint-order:stroke;stroke:var(--page);stroke-width:4px;stroke-linejoin:round}
.grid{stroke:var(--rule);stroke-width:1}.axis{stroke:var(--plain);stroke-width:1}
.reference{stroke:var(--plain);stroke-width:1;stroke-dasharray:3 3}
.whisker{stroke:var(--plain);stroke-width:2;stroke-linecap:round}
.whisker.better{stroke:var(--good)}.whisker.worse{stroke:var(--bad)}
.dot{fill:var(--plain)}.dot.better{fill:var(--good)}.dot.worse{fill:var(--bad)}
.dot.same{fill:var(--page);stroke:var(--plain);stroke-width:2}
.gain{fill:var(--good)}.loss{fill:var(--bad)}.bar{fill:var(--good);opacity:.8}
.curve{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}
.c1{stroke:var(--c1)}.c2{stroke:var(--c2)}.c3{stroke:var(--c3)}.c4{stroke:var(--c4)}.c5{stroke:var(--c5)}
.curve.c2{stroke-dasharray:7 4}.curve.c3{stroke-dasharray:2 4}.curve.c4{stroke-dasharray:9 3 2 3}.curve.c5{stroke-dasharray:12 5}
.fill{fill:var(--page);stroke-width:2}
.key{display:flex;flex-wrap:wrap;gap:.1rem 1rem;margin:.25rem 0;padding:0;list-style:none;font-size:.8125rem}
.key svg{display:inline-block;width:26px;height:8px;margin-right:.4rem;vertical-align:middle}
details{border-top:1px solid var(--rule)}
details:last-of-type{border-bottom:1px solid var(--rule)}
summary{display:flex;gap:.25rem 1rem;align-items:baseline;justify-content:space-between;padding:.75rem .25rem;cursor:pointer;list-style:none}
summary::-webkit-details-marker{display:none}
summary::before{content:"+";flex:none;width:.9em;color:var(--soft);font-weight:600}
details[open]>summary::before{content:"−"}
summary .q{flex:1}
summary .d{flex:none;font-variant-numeric:tabular-nums;color:var(--soft);font-size:.875rem}
summary .d b{margin-left:.5rem;font-size:1rem}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,20rem),1fr));gap:1.25rem 2.5rem;padding:.5rem .25rem 1.5rem}
.hits{margin:0;padding:0;list-style:none;counter-reset:rank}
.hits li{counter-increment:rank;position:relative;padding:.55rem 0 .55rem 1.75rem;border-top:1px solid var(--rule);font-size:.9375rem;line-height:1.5}
.hits li::before{content:counter(rank);position:absolute;left:0;color:var(--soft);font-variant-numeric:tabular-nums}
.hits b{font-weight:600}
.hits p{margin:.1rem 0;color:var(--soft);font-size:.875rem}
.grade{font-size:.8125rem;color:var(--soft);white-space:nowrap}
.grade.yes{color:var(--good);font-weight:600}
mark{background:var(--mark);color:var(--text);border-radius:.15em;padding:0 .1em}
.terms{font-size:.8125rem;color:var(--soft)}
.terms span{display:inline-block;margin-right:.7em}
.terms i{font-style:normal;color:var(--text)}
ul.plain{margin:.75rem 0 0;padding-left:1.15rem;max-width:46rem}
ul.plain li{margin:.25rem 0}
pre{margin:1rem 0 0;padding:1rem 1.15rem;overflow-x:auto;background:var(--panel);border:1px solid var(--rule);border-radius:.5rem;tab-size:2;
font:.8125rem/1.6 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
footer{padding:1.75rem 0 3rem;border-top:1px solid var(--rule);color:var(--soft);font-size:.875rem}
:focus-visible{outline:2px solid var(--good);outline-offset:2px;border-radius:.2rem}
.off{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.skip:focus{position:static;width:auto;height:auto;clip-path:none}
@media (max-width:40rem){
header{padding-top:2rem}
th,td{padding:.6rem .7rem}
tbody th{min-width:5.5rem;max-width:9rem}
summary{flex-wrap:wrap}summary .q{flex-basis:75%}summary .d{padding-left:2.15em}
}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
@media print{
body{font-size:10pt}.wrap{max-width:none;padding:0}nav,.skip{display:none}
header{padding-top:0}section{padding:1.25rem 0}
figure,tr,.hits li,summary{break-inside:avoid}h2,h3,h4{break-after:avoid}
.scroll,pre{overflow:visible}pre{white-space:pre-wrap}
details::details-content{content-visibility:visible;block-size:auto;display:block}
}
"""
)

# A closed <details> prints empty in older browsers; this opens them for the printer. The page needs no script otherwise.
SCRIPT = 'addEventListener("beforeprint",()=>document.querySelectorAll("details").forEach(d=>d.open=true))'
