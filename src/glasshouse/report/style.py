# SPDX-License-Identifier: Apache-2.0
"""Style: how the page looks, on a screen by day and by night, and on paper."""

from __future__ import annotations

__all__ = ["STYLE"]

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #ffffff; --wash: #f4f7f5; --line: #d3ddd7; --ink: #17211c; --soft: #4c5a53;
  --leaf: #1f6b4a; --leaf-wash: #e3f1ea; --bar: #4a9472;
  --stop: #a3201c; --stop-wash: #fbe9e7; --care: #7a4b00; --care-wash: #fdf1dc; --other: #6a6f8f;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #121815; --wash: #1b2420; --line: #37463e; --ink: #e7eeea; --soft: #a9b8b0;
    --leaf: #7fd3a8; --leaf-wash: #19332a; --bar: #4f9f7a;
    --stop: #ff9a90; --stop-wash: #3d1c1a; --care: #f2c26b; --care-wash: #362a13; --other: #a4a9d0;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0 auto; padding: 2rem 1.5rem 4rem; max-width: 56rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  font-variant-numeric: tabular-nums; overflow-wrap: break-word;
}
h1 { font-size: 1.9rem; line-height: 1.2; margin: .3rem 0 .6rem; letter-spacing: -.01em; }
h2 { font-size: 1.3rem; margin: 2.6rem 0 .7rem; padding-top: .7rem; border-top: 2px solid var(--leaf); }
h3 { font-size: 1.05rem; margin: 1.8rem 0 .4rem; }
p { margin: .5rem 0; max-width: 46rem; }
.inside {
  display: inline-block; padding: .15rem .6rem; border-radius: .25rem; background: var(--stop-wash); color: var(--stop);
  font-size: .85rem; font-weight: 600; letter-spacing: .02em;
}
.lead { font-size: 1.1rem; }
.soft, figcaption, caption .soft { color: var(--soft); }
.name { font-weight: 600; unicode-bidi: isolate; }
nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; padding: 0; margin: .8rem 0; }
a { color: var(--leaf); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); gap: .8rem; margin: 1.2rem 0; }
dl.tile { margin: 0; }
.tile { background: var(--wash); border: 1px solid var(--line); border-radius: .5rem; padding: .8rem .95rem; }
.tile dt { font-size: .85rem; color: var(--soft); }
.tile dd { margin: 0; }
.tile dd.big { font-size: 1.55rem; font-weight: 650; line-height: 1.25; }
.tile dd.small { font-size: .85rem; color: var(--soft); }
.tile.good { background: var(--leaf-wash); border-color: var(--leaf); }
.tile.good dd.big { color: var(--leaf); }
.tile.stop { background: var(--stop-wash); border-color: var(--stop); }
.tile.stop dd.big { color: var(--stop); }
.tile.attention { background: var(--care-wash); border-color: var(--care); }
.tile.attention dd.big { color: var(--care); }
.cautions { list-style: none; margin: 1rem 0; padding: 0; }
.cautions li { margin: .5rem 0; padding: .55rem .9rem; border-left: .3rem solid var(--line); background: var(--wash); }
.cautions li.stop { border-color: var(--stop); background: var(--stop-wash); }
.cautions li.attention { border-color: var(--care); background: var(--care-wash); }
.cautions b { margin-right: .35rem; }
.cautions .stop b { color: var(--stop); }
.cautions .attention b { color: var(--care); }
.wide { overflow-x: auto; margin: .9rem 0; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
table.slim { max-width: 34rem; }
caption { text-align: left; padding: .2rem 0 .4rem; font-weight: 600; }
th, td { text-align: left; vertical-align: top; padding: .38rem .7rem .38rem 0; border-bottom: 1px solid var(--line); }
thead th { border-bottom: 2px solid var(--line); font-weight: 600; color: var(--soft); font-size: .85rem; }
tbody th { font-weight: 500; }
td.number, th.number { text-align: right; padding-right: .7rem; white-space: nowrap; }
td.hash {
  word-break: break-all; font-family: ui-monospace, "Cascadia Mono", Menlo, Consolas, monospace; font-size: .78rem;
}
dl.said { display: grid; grid-template-columns: 9rem 1fr; gap: .35rem 1rem; margin: .8rem 0; }
dl.said dt { color: var(--soft); }
dl.said dd { margin: 0; }
figure { margin: 1rem 0 1.4rem; }
figcaption { font-size: .88rem; margin-top: .3rem; }
svg { width: 100%; height: auto; display: block; background: var(--wash); border-radius: .4rem; }
svg text { fill: var(--ink); font-size: 12px; }
svg text.axis { fill: var(--soft); }
svg .grid { stroke: var(--line); stroke-width: 1; }
svg .bar { fill: var(--bar); }
svg .bar.above { fill: var(--stop); }
svg line.limit { stroke: var(--stop); stroke-width: 1.5; stroke-dasharray: 5 4; }
svg text.limit { fill: var(--stop); font-weight: 600; }
svg polyline { fill: none; stroke-width: 2.5; stroke-linejoin: round; }
svg .release { stroke: var(--leaf); stroke-width: 2.5; }
svg .no-link { stroke: var(--other); stroke-width: 2; stroke-dasharray: 3 4; }
pre {
  background: var(--wash); border: 1px solid var(--line); border-radius: .4rem; padding: .8rem; font-size: .8rem;
  white-space: pre-wrap;
}
@media (max-width: 36rem) { dl.said { grid-template-columns: 1fr; gap: 0; } dl.said dd { margin-bottom: .5rem; } }
@page { size: A4; margin: 17mm 16mm 19mm; }
@media print {
  :root {
    color-scheme: light;
    --paper: #fff; --wash: #fff; --line: #b9c4be; --ink: #000; --soft: #333; --leaf: #14573a; --leaf-wash: #fff;
    --bar: #4a9472; --stop: #8f1512; --stop-wash: #fff; --care: #5f3a00; --care-wash: #fff; --other: #555a7d;
  }
  body { max-width: none; padding: 0; font-size: 9.5pt; line-height: 1.4; }
  nav { display: none; }
  h1 { font-size: 19pt; }
  h2 { font-size: 13pt; margin-top: 16pt; }
  h3 { font-size: 11pt; }
  h2, h3, caption { break-after: avoid; }
  figure, .wide, .tile, .cautions li, tr, dl.said dd { break-inside: avoid; }
  .knows { break-after: avoid; }
  thead { display: table-header-group; }
  .tiles { grid-template-columns: repeat(3, 1fr); gap: 6pt; }
  .tile { padding: 5pt 7pt; }
  .tile dd.big { font-size: 14pt; }
  .wide { overflow: visible; }
  svg { border: 1px solid var(--line); print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  p { orphans: 3; widows: 3; }
  pre { font-size: 7.5pt; }
}
"""
