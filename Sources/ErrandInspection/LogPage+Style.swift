extension LogPage {
  static let style = """
    :root{color-scheme:light dark;--ink:#1c1c1e;--dim:#6b6b70;--back:#fff;--band:#f4f4f6;--line:#d8d8dc;--good:#1a7f37;
    --bad:#b3261e;--warn:#9a6700;--pick:#dbe9ff;--queue:#b9b9c0;--name:#8e6cc0;--connect:#d08700;--tls:#c25a9c;--wait:#3b82c4;
    --body:#2e9e5b}
    @media (prefers-color-scheme:dark){:root{--ink:#ececef;--dim:#9a9aa2;--back:#161618;--band:#1f1f23;--line:#38383e;--good:#58c27d;
    --bad:#ff8078;--warn:#e3b341;--pick:#1f3a5f}}
    *{box-sizing:border-box}
    body{margin:0;height:100vh;display:flex;flex-direction:column;font:13px/1.45 system-ui,sans-serif;color:var(--ink);
    background:var(--back)}
    header{display:flex;flex-wrap:wrap;gap:.5em 1em;align-items:center;padding:.5em .8em;border-bottom:1px solid var(--line)}
    h1{font-size:14px;margin:0}
    #filter{flex:1;min-width:10em;font:inherit;padding:.25em .5em;color:inherit;background:var(--band);border:1px solid var(--line);
    border-radius:5px}
    main{flex:1;display:flex;min-height:0}
    #list{flex:3;min-width:0;overflow:auto}
    #space{position:relative}
    #details{flex:2;min-width:0;overflow:auto;padding:.6em .9em;border-left:1px solid var(--line)}
    #details:empty{display:none}
    .row,#axis{height:26px;display:flex;gap:.6em;align-items:center;padding:0 .8em;cursor:default;white-space:nowrap;overflow:hidden}
    .row{position:absolute;left:0;right:0}
    .row:nth-child(even){background:var(--band)}
    #axis{position:sticky;top:0;z-index:1;background:var(--back);border-bottom:1px solid var(--line);color:var(--dim)}
    #axis .bars b{position:absolute;top:5px;padding-left:4px;font-weight:normal;font-size:11px;font-variant-numeric:tabular-nums}
    #axis span{font-weight:normal}
    .key{display:flex;gap:.7em;color:var(--dim);font-size:11px}
    .key i{display:inline-block;width:8px;height:8px;border-radius:2px;margin-right:.3em}
    #origin{color:var(--dim);overflow-wrap:anywhere}
    .row[aria-selected=true]{background:var(--pick)}
    .row span{overflow:hidden;text-overflow:ellipsis}
    .number{width:3.6em;text-align:right;color:var(--dim);flex:none}
    .method{width:4.5em;flex:none;font-weight:600}
    .status{width:2.6em;flex:none;text-align:right}
    .address{flex:1 1 0;min-width:6em}
    .time{width:5.4em;flex:none;text-align:right;font-variant-numeric:tabular-nums}
    .bars{flex:1.2 1 0;min-width:16em;height:100%;position:relative;background-image:linear-gradient(90deg,var(--line) 1px,transparent 1px);
    background-size:var(--tick) 100%}
    .bars i{position:absolute;top:7px;bottom:7px;min-width:1px;border-radius:2px}
    .bars i.attempt{top:11px;bottom:11px;background:var(--dim)}
    .queue{background:var(--queue)}.name{background:var(--name)}.connect{background:var(--connect)}.tls{background:var(--tls)}
    .wait{background:var(--wait)}.body{background:var(--body)}
    .succeeded{color:var(--good)}.failed{color:var(--bad)}.cancelled{color:var(--warn)}
    :focus-visible{outline:2px solid var(--wait);outline-offset:-2px}
    #list:focus-visible{outline:none}#list:focus-visible #axis{border-bottom:2px solid var(--wait)}
    h2{font-size:13px;margin:0 0 .3em;overflow-wrap:anywhere}h3{font-size:12px;margin:1em 0 .2em}
    p{margin:.2em 0;overflow-wrap:anywhere}
    pre{margin:.2em 0;padding:.5em;background:var(--band);border-radius:5px;white-space:pre-wrap;overflow-wrap:anywhere;
    font:12px/1.45 ui-monospace,monospace}
    button{font:inherit;padding:.1em .7em;color:inherit;background:var(--band);border:1px solid var(--line);border-radius:5px}
    .advice{border-left:3px solid var(--bad);padding-left:.6em}
    @media (max-width:800px){main{flex-direction:column}#details{border-left:0;border-top:1px solid var(--line)}
    .bars,.key{display:none}.number{width:2.4em}}
    """
}
