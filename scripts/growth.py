#!/usr/bin/env python3
"""What an estimate costs from 10^3 to 10^6 rows: exactly, on a factor of low rank, and on a sample.

usage: scripts/growth.py BOOTBENCH ROWS PICTURE.svg    ROWS: the largest number, a power of ten

Each cell is a process of its own, on synthetic regression in 4 inputs (waves). It prints the table of
BENCHMARKS.md, and draws seconds against rows."""
import json
import subprocess
import sys

WAYS = {"exact": ["--engine", "exact"], "low rank": ["--engine", "lowrank", "--rank-error", "1%"],
        "sample": ["--sample", "8000"]}
MOST = {"exact": 10_000, "low rank": 10**9, "sample": 10**9}
LEAST = {"exact": 0, "low rank": 0, "sample": 20_000}
COLOURS = {"exact": "#0072b2", "low rank": "#d55e00", "sample": "#009e73"}


def run(bootbench, rows, way):
    """The answer of one process; from 10^6 rows on a factor by the theory alone."""
    line = [bootbench, "estimate", f"synthetic:waves,n={rows},d=4", "--loss", "square", "--noise", "0.1",
            "--gamma", "0.1", "--no-points", "--quiet", "--json", "-"] + WAYS[way]
    if rows >= 10**6 and way == "low rank":
        line += ["--refine", "none"]
    answer = json.loads(subprocess.run(line, stdout=subprocess.PIPE, check=True).stdout)
    print(rows, way, answer["time"]["total"], file=sys.stderr)
    return answer


def cells(answers, way):
    a = answers.get(way)
    if a is None:
        return ["", "", ""] + ["", ""] * (way == "low rank")
    row = [f"{a['time']['total']:.3g}", f"{a['memory']['peak_bytes'] / 2**20:.0f}", f"{a['error']:.4g}"]
    if way == "sample":
        row[2] += f" +- {a['error_se']:.2g}"
    if way == "low rank":
        off = "-"
        if "exact" in answers:
            off = f"{100 * abs(a['error'] / answers['exact']['error'] - 1):.2g}%"
        row += [str(a["rank"]), f"{100 * a['rank_error']:.2g}%, {off}"]
    return row


def draw(table, picture):
    from math import log10
    body = []

    def place(rows, seconds):
        return 60 + 90 * (log10(rows) - 3), 230 - 60 * log10(max(seconds, 0.1))
    for t in (0.1, 1, 10, 100):
        y = place(1000, t)[1]
        body.append(f'<path d="M60 {y:.0f}H330" stroke="#ddd"/>'
                    f'<text x="54" y="{y + 4:.0f}" text-anchor="end">{t:g} s</text>')
    for k, way in enumerate(WAYS):
        points = [place(rows, a[way]["time"]["total"]) for rows, a in table.items() if way in a]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        body.append(f'<polyline points="{line}" fill="none" stroke="{COLOURS[way]}" stroke-width="2"/>'
                    f'<text x="345" y="{120 + 20 * k}" fill="{COLOURS[way]}">{way}</text>')
        body += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{COLOURS[way]}"/>' for x, y in points]
    for rows in table:
        body.append(f'<text x="{place(rows, 1)[0]:.0f}" y="310" text-anchor="middle">{rows:,}</text>')
    with open(picture, "w") as file:
        file.write('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 440 330" font-family="sans-serif" '
                   'font-size="12"><rect width="440" height="330" fill="white"/>' + "\n".join(body) + "</svg>\n")


def main(bootbench, most, picture):
    table, rows = {}, 1000
    while rows <= int(most):
        table[rows] = {way: run(bootbench, rows, way) for way in WAYS if LEAST[way] <= rows <= MOST[way]}
        rows *= 10
    print("| n | exact s | MiB | error | low rank s | MiB | error | rank | off | sample s | MiB | error of all rows |")
    print("|---:|" + "---:|" * 11)
    for rows, answers in table.items():
        print(f"| 10^{len(str(rows)) - 1} | " + " | ".join(c for way in WAYS for c in cells(answers, way)) + " |")
    draw(table, picture)


if __name__ == "__main__":
    main(*sys.argv[1:])
