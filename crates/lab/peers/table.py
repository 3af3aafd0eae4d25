"""Tables in Markdown from crates/lab/results/peers.json."""

import statistics

from contestants import ALL, EPOCH_PEERS
from workloads import WORKLOADS

BEGIN, END = "<!-- peers: begin -->", "<!-- peers: end -->"
# Others may take this share of a core before a measurement is marked.
QUIET = 0.2


def tables(results):
    """Everything measured, as one piece of Markdown."""
    parts = []
    for threads in sorted({measured["threads"] for measured in results["step"]}):
        of_threads = [m for m in results["step"] if m["threads"] == threads]
        of_threads.sort(key=lambda measured: list(WORKLOADS).index(measured["workload"]))
        parts += step_tables(threads, of_threads)
    if results["epoch"]:
        parts.append(epoch_table(sorted(results["epoch"], key=lambda m: m["threads"])))
    measured = results["step"] + results["epoch"]
    parts.append(origin(measured) if measured else "Nothing has been measured yet.")
    return "\n\n".join(parts)


def step_tables(threads, measured):
    plural = "" if threads == 1 else "s"
    parts = [f"### {threads} thread{plural}"]
    modes = [mode for mode in ALL if any(mode in m["results"] for m in measured)]
    kinds = [
        ("cpu_ms", "Processor time of a step, ms: median and range over passes"),
        ("wall_ms", "Wall-clock time of a step, ms"),
        ("peak_mib", "Peak memory above the imported framework or the idle process, MiB"),
    ]
    for figure, caption in kinds:
        head = ["workload", "batch", *(ALL[mode].title for mode in modes)]
        head += ["private ÷ PyTorch plain", "private ÷ best private peer", "private ÷ plain"]
        rows = [step_row(m, figure, modes) for m in measured]
        parts.append(f"**{caption}**\n\n{markdown(head, rows)}")
    failures = [
        f"- {m['workload']}, {ALL[mode].title}: {result['failure']}"
        for m in measured
        for mode, result in m["results"].items()
        if "failure" in result
    ]
    if failures:
        parts.append("No result:\n\n" + "\n".join(failures))
    return parts


def step_row(measured, figure, modes):
    results = measured["results"]
    name = measured["workload"] + (" (busy)" if busy(measured) else "")
    cells = [name, str(measured["batch"])]
    cells += [cell(results.get(mode), figure) for mode in modes]
    ours = "tacita-private"
    peers = (mode for mode in modes if ALL[mode].private and mode != ours)
    known = [mode for mode in peers if value(results.get(mode), figure) is not None]
    best = min(known, key=lambda mode: value(results[mode], figure), default=None)
    for other in ("torch", best, "tacita-plain"):
        cells.append(ratio(results.get(ours), results.get(other), figure))
    return cells


def epoch_table(measured):
    head = ["threads", "", "data", "steps", "wall s", "processor s", "waiting for data, s"]
    head += ["peak MiB", "Tacita ÷ this, wall"]
    rows = []
    for m in measured:
        ours = m["results"].get("tacita-private")
        for mode in [*EPOCH_PEERS, "tacita-private"]:
            result = m["results"].get(mode)
            if result is None:
                continue
            threads = f"{m['threads']}" + (" (busy)" if busy(m) else "")
            row = [threads, ALL[mode].title, result.get("data", ""), str(result.get("steps", ""))]
            for figure in ("wall_s", "cpu_s", "waited_s", "peak_mib"):
                row.append(cell(result, figure))
            rows.append([*row, ratio(ours, result, "wall_s")])
    failures = [
        f"- {m['threads']} threads, {ALL[mode].title}: {result['failure']}"
        for m in measured
        for mode, result in m["results"].items()
        if "failure" in result
    ]
    text = f"### One epoch of MNIST\n\n{markdown(head, rows)}"
    return text + ("\n\nNo result:\n\n" + "\n".join(failures) if failures else "")


def busy(measured):
    return measured["cores_used_by_others"] > QUIET


def value(result, figure):
    if result is None or "failure" in result or result.get(figure) is None:
        return None
    return result[figure]["value"]


def cell(result, figure):
    if result is None:
        return "–"
    if "failure" in result:
        return "no result"
    if result.get(figure) is None:
        return "?"
    low, high = result[figure]["spread"]
    return f"{short(result[figure]['value'])} ({short(low)}–{short(high)})"


def short(number):
    return f"{number:.0f}" if abs(number) >= 100 else f"{number:.3g}"


def ratio(ours, other, figure):
    """The median over passes of the ratio within a pass: what slows a whole pass cancels."""
    if value(ours, figure) is None or value(other, figure) is None:
        return "–"
    pairs = zip(ours[figure]["passes"], other[figure]["passes"])
    return f"{statistics.median(a / b for a, b in pairs):.2f}"


def origin(measured):
    """Where, when and with what it was measured."""
    machines = {
        f"{m['machine']['processor']}, {m['machine']['cores']} cores, "
        f"{m['machine']['memory_gib']} GiB, {m['machine']['system']}"
        for m in measured
    }
    versions = {f"{name} {v}" for m in measured for name, v in m["versions"].items()}
    passes = sorted({str(m["passes"]) for m in measured})
    lines = [
        f"Measured on {'; '.join(sorted(machines))}, "
        f"{min(m['date'] for m in measured)[:10]} to {max(m['date'] for m in measured)[:10]}, "
        f"Tacita at {', '.join(sorted({m['commit'] for m in measured}))}; "
        f"{', '.join(sorted(versions))}. Passes: {', '.join(passes)}."
    ]
    if any(busy(m) for m in measured):
        lines.append(
            f"Busy: other processes used more than {QUIET} cores in a pass; measure these again."
        )
    return " ".join(lines)


def markdown(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def write_page(page, results):
    """Replaces what stands between the two markers of the page."""
    text = page.read_text()
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise SystemExit(f"{page} must hold {BEGIN} and then {END}, once each")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    page.write_text(f"{before}{BEGIN}\n\n{tables(results)}\n\n{END}{after}")
