/** The pages' only stylesheet. They load no script, font or image. */
export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --text: #1c2024; --soft: #5f6873; --line: #d9dee3; --page: #fff; --panel: #f6f8fa; --accent: #0b5cad;
  --open: #17703a; --merged: #6b3fb5; --closed: #b3261e; --on-badge: #fff;
  --add: #e5f6ea; --add-mark: #a9e4bb; --del: #fdebea; --del-mark: #f8bfbb; --added: #17703a; --gone: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e3e8ed; --soft: #97a1ac; --line: #343b43; --page: #14181c; --panel: #1c2127; --accent: #7fb8f5;
    --open: #267a46; --merged: #8459d0; --closed: #c8453c;
    --add: #14301f; --add-mark: #21623a; --del: #38191a; --del-mark: #7a2b2b; --added: #6fd391; --gone: #f28b82;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
header, main { max-width: 70rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 1rem; color: var(--soft); font-size: .875rem; display: flex; gap: 1rem; justify-content: space-between; }
main { padding-bottom: 4rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: .5rem 0 .6rem; font-weight: 650; }
h1 .number { color: var(--soft); font-weight: 400; }
h2 { font-size: 1.05rem; margin: 2.2rem 0 .6rem; }
h2 .count { color: var(--soft); font-weight: 400; }
a { color: var(--accent); }
code, .path, .sha { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .85em; }
.lead { margin: 0; color: var(--soft); }
.lead code { color: var(--text); background: var(--panel); border-radius: .3rem; padding: .1rem .35rem; }
.badge { display: inline-block; border-radius: 1rem; padding: .1rem .75rem; margin-right: .35rem; color: var(--on-badge); font-size: .875rem; font-weight: 600; }
.badge.open { background: var(--open); } .badge.merged { background: var(--merged); } .badge.closed { background: var(--closed); }
.panel { border: 1px solid var(--line); border-radius: .5rem; padding: .8rem 1rem; }
.text { unicode-bidi: plaintext; } .text > :first-child { margin-top: 0; } .text > :last-child { margin-bottom: 0; }
.text pre { overflow-x: auto; background: var(--panel); padding: .6rem .8rem; border-radius: .4rem; } .text h1, .text h2, .text h3 { font-size: 1.05rem; margin: 1rem 0 .4rem; }
.problem { border: 1px solid var(--gone); border-radius: .5rem; padding: .6rem 1rem; color: var(--gone); }
.soft, .note { color: var(--soft); }
.note { margin: 0; padding: .6rem 1rem; font-size: .875rem; }
ul.plain { list-style: none; margin: 0; padding: 0; }
ul.rows > li { display: flex; flex-wrap: wrap; gap: .1rem .75rem; padding: .5rem 0; border-top: 1px solid var(--line); }
ul.rows > li:first-child { border-top: 0; } ul.rows > li > :first-child { flex: 1 1 20rem; }
.panel > ul.rows { margin: -.5rem 0; }
.sha, time, .by { color: var(--soft); font-size: .875rem; }
.sha { padding-top: .12rem; font-size: .8rem; }
.verdict-approved { color: var(--added); } .verdict-changes-requested { color: var(--gone); }
.counts { white-space: nowrap; font-size: .8125rem; color: var(--soft); font-variant-numeric: tabular-nums; }
.added { color: var(--added); } .gone { color: var(--gone); }
.tag { border: 1px solid var(--line); border-radius: .3rem; padding: 0 .35rem; font-size: .75rem; color: var(--soft); }
.file { border: 1px solid var(--line); border-radius: .5rem; margin: .9rem 0; overflow: clip; }
.file > summary { position: sticky; top: 0; cursor: pointer; background: var(--panel); padding: .5rem .9rem; }
.file[open] > summary { border-bottom: 1px solid var(--line); }
.file .counts { float: right; padding: .1rem 0 0 .75rem; }
.scroll { overflow-x: auto; }
.diff { border-collapse: collapse; min-width: 100%; font: .8125rem/1.45 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.diff td { padding: 0 .5rem; vertical-align: top; }
.diff td:nth-last-child(n+2) { width: 1%; min-width: 2.6rem; text-align: right; color: var(--soft); user-select: none; -webkit-user-select: none; }
.diff td:last-child { white-space: pre-wrap; overflow-wrap: anywhere; padding-left: 1.1rem; text-indent: -1.1rem; }
.diff code { font: inherit; unicode-bidi: isolate; }
.diff .sign { display: inline-block; text-indent: 0; width: 1.1rem; color: var(--soft); user-select: none; -webkit-user-select: none; }
.diff ins, .diff del { text-decoration: none; border-radius: .15rem; }
.diff .d2h-ins { background: var(--add); } .diff .d2h-ins ins { background: var(--add-mark); }
.diff .d2h-del { background: var(--del); } .diff .d2h-del del { background: var(--del-mark); }
.diff .hunk { background: var(--panel); color: var(--soft); } .diff .hunk td { padding-top: .25rem; padding-bottom: .25rem; }
.acts { display: grid; grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); gap: 1rem; }
form { display: grid; gap: .7rem; align-content: start; }
form h3 { margin: 0; font-size: 1rem; }
label { display: grid; gap: .2rem; font-size: .875rem; color: var(--soft); }
input, textarea { font: inherit; font-size: 1rem; color: var(--text); background: var(--page); border: 1px solid var(--line); border-radius: .4rem; padding: .45rem .6rem; width: 100%; }
.buttons { display: flex; flex-wrap: wrap; gap: .5rem; }
button { font: inherit; font-weight: 600; min-height: 2.6rem; padding: .4rem 1rem; border-radius: .4rem; border: 1px solid var(--line); background: var(--panel); color: var(--text); cursor: pointer; }
button.main { background: var(--open); border-color: var(--open); color: var(--on-badge); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
@media (max-width: 40rem) {
  header, main { padding-left: .9rem; padding-right: .9rem; }
  h1 { font-size: 1.3rem; }
  .diff { font-size: .75rem; }
  .diff td:first-child { display: none; }
  .diff td:nth-last-child(2) { min-width: 2.1rem; padding-right: .3rem; }
  .diff td:nth-last-child(n+2) { padding-left: .25rem; padding-right: .25rem; }
}
@media print { .acts, form { display: none; } }
`;
