/// The page's looks: by day, in the dark and on paper. Nothing is fetched from anywhere.
enum ReportStyle {
    /// Colours by name; each of the texts is legible on both backgrounds of its set.
    static let light = [
        "paper": "#ffffff", "panel": "#f6f8fa", "ink": "#1b1f24", "muted": "#57606a", "line": "#8c959f", "good": "#116329",
        "fair": "#0550ae",
        "open": "#7d4e00", "bad": "#a40e26",
    ]
    static let dark = [
        "paper": "#0d1117", "panel": "#161b22", "ink": "#e6edf3", "muted": "#9da7b1", "line": "#6e7681", "good": "#56d364",
        "fair": "#79c0ff",
        "open": "#e3b341", "bad": "#ff7b72",
    ]

    private static func variables(_ colours: [String: String]) -> String {
        colours.sorted { $0.key < $1.key }.map { "--\($0.key):\($0.value)" }.joined(separator: ";")
    }

    /// How drawings are painted; for pages, and for a drawing in a file of its own.
    static let shapes = """
        text{font:13px system-ui,"DejaVu Sans",sans-serif;fill:var(--ink)}
        text.small,text.axis{font-size:11.5px;fill:var(--muted)}
        text.strong{font-weight:600}
        text.good{fill:var(--good)}text.fair{fill:var(--fair)}text.open{fill:var(--open)}text.bad{fill:var(--bad)}
        rect{fill:var(--panel);stroke:var(--line);stroke-width:1.5}
        rect.good{stroke:var(--good);stroke-width:2.5}rect.fair{stroke:var(--fair);stroke-width:2.5}
        rect.open{stroke:var(--open);stroke-width:2;stroke-dasharray:6 3}rect.bad{stroke:var(--bad);stroke-width:2.5;stroke-dasharray:2 3}
        line.lan{stroke:var(--line);stroke-width:2}line.mine{stroke:var(--ink);stroke-width:4}
        line.guess{stroke:var(--ink);stroke-width:3;stroke-dasharray:7 5}line.grid{stroke:var(--line);stroke-width:1;opacity:.45}
        line.median{stroke:var(--ink);stroke-width:3}
        circle{fill:var(--fair);fill-opacity:.75}circle.found{fill:var(--good);fill-opacity:1}
        """

    /// For a drawing in a file of its own: colours as they are, since not every viewer knows variables, on a background of its own.
    static func drawing(_ more: String) -> String {
        light.reduce("rect.paper{fill:var(--paper);stroke:none}\n" + shapes + "\n" + more) { style, colour in
            style.replacing("var(--\(colour.key))", with: colour.value)
        }
    }

    static let page = """
        :root{color-scheme:light dark;\(variables(light))}
        @media screen and (prefers-color-scheme:dark){:root{\(variables(dark))}}
        *{box-sizing:border-box}
        body{margin:0 auto;padding:1.5rem;max-width:76rem;font:16px/1.5 system-ui,"DejaVu Sans",sans-serif;background:var(--paper);color:var(--ink)}
        h1{margin:0;font-size:1.7rem}h2{margin:2.2rem 0 .6rem;font-size:1.25rem}
        .muted{color:var(--muted)}.lead{font-size:1.1rem}
        .skip{position:absolute;left:-99rem}.skip:focus{position:static}
        .scroll{overflow-x:auto;border:1px solid var(--line);border-radius:6px}.scroll:focus-visible{outline:3px solid var(--fair)}
        table{border-collapse:collapse;width:100%;font-size:.9rem}
        caption{text-align:left;padding:.6rem .7rem;color:var(--muted)}
        th,td{text-align:left;vertical-align:top;padding:.45rem .7rem;border-top:1px solid var(--line)}
        thead th{background:var(--panel);white-space:nowrap}
        .code{font-weight:400;white-space:nowrap;font-family:ui-monospace,"DejaVu Sans Mono",monospace;font-size:.85rem}
        td.right{text-align:right;white-space:nowrap}td.reason{min-width:16rem;width:34%}td.grade{min-width:7rem}
        tr.chosen th[scope=row]{border-left:5px solid var(--ink)}
        .tag{font-weight:600;white-space:nowrap}
        .good{color:var(--good)}.fair{color:var(--fair)}.open{color:var(--open)}.bad{color:var(--bad)}
        svg{display:block;width:100%;height:auto}.scroll>svg{width:calc(100% - 1rem);min-width:46rem;margin:.5rem}
        dl.counts{display:grid;grid-template-columns:repeat(auto-fill,minmax(11rem,1fr));gap:.3rem 1.5rem;margin:0}
        dl.counts div{display:flex;justify-content:space-between;border-bottom:1px solid var(--line)}dd{margin:0;font-weight:600}
        .narrow{display:none}.hint{display:none;margin:.2rem 0}
        @media screen and (max-width:48rem){.wide{display:none}.narrow{display:block}.hint{display:block}body{padding:1rem}}
        @media print{body{max-width:none;padding:0;font-size:10pt}.skip{display:none}.scroll{overflow:visible;border:0}
        .scroll>svg{width:100%;min-width:0;margin:0}table{font-size:8pt}th,td{padding:.25rem .4rem}td.reason{min-width:9rem}td.grade{min-width:5rem}
        .code{font-size:7.5pt}svg{max-height:118mm}thead{display:table-header-group}tr,svg,h2{break-inside:avoid}h2{break-after:avoid}@page{margin:14mm;size:A4 landscape}}
        """ + "\n" + shapes
}
