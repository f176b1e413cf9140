"""ReFrame checks: a study of Amasia, one check for each app, compared with recorded results.

    reframe -c sites/reframe/amasia_checks.py -r -S program=/opt/amasia/bin/amasia

A check fails when a result is wrong, a row could not be had, or a measurement is not valid; and
when a median or a speed-up lies outside of where a new run of the same code on this model of GPU
falls, by the predictive interval of the recorded sessions. They are in references.json, made by

    python -m plots references results -o sites/reframe/references.json

which takes the results of a site as well. What is not recorded has no limits, and the check says
so. Times are in ms, speed-ups over the app's baseline. Written for ReFrame 4.7 and newer.
"""

import csv
import json
import os
import pathlib

import reframe as rfm
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ

HERE = os.path.dirname(os.path.abspath(__file__))
# The columns by which a row is recognised in references.json (plots/commands/references.py).
KEY = ("app", "size", "cache", "launch", "variant", "role", "config", "schedule", "source_digest")
MAKE_REFERENCES = "make it by: python -m plots references results -o sites/reframe/references.json"
STATUS = {
    1: "a wrong result, a crash, or something that could not be done",
    2: "a mistake in the command line, or a file that cannot be used",
    3: "no usable GPU, or a program built without CUDA",
    4: "the measurement is not valid: the GPU was not alone, or not steady; run it again",
    5: "standard output could not be written",
    130: "interrupted",
}


class AmasiaStudy(rfm.RunOnlyRegressionTest):
    """One study of one app. To derive from: the derived check says which apps."""

    app = parameter()
    study = variable(str, value="quick")
    #: The program, in PATH or by its path.
    program = variable(str, value="amasia")
    #: Further options of `amasia study`.
    options = variable(typ.List[str], value=[])
    #: The intervals to hold new runs against.
    references = variable(str, value=os.path.join(HERE, "references.json"))
    #: What is claimed of every row, with its interval, and why a row has no limits. For the logs.
    claims = variable(str, value="", loggable=True)
    #: As the driver names it.
    gpu = variable(str, value="unknown", loggable=True)

    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    num_tasks = 1
    maintainers = ["amasia"]
    tags = {"performance", "gpu"}

    @run_before("run")
    def command(self):
        if not os.path.exists(self.references):
            raise rfm.core.exceptions.ReframeError(f"no {self.references}: {MAKE_REFERENCES}")
        self.executable = self.program
        self.executable_opts = [
            *("study", self.study, self.app, "--strict"),
            *("--out", "result.json", *self.options),
        ]
        export = f"{self.program} export result.json --csv rows.csv"
        self.postrun_cmds = ["status=$?", export, "exit $status"]

    def rows(self):
        """The lines of the CSV, without the baseline's second row, which is a control."""
        with open(os.path.join(self.stagedir, "rows.csv"), newline="") as file:
            return [row for row in csv.DictReader(file) if row["repeat"] == "0"]

    @sanity_function
    def every_row_is_right(self):
        status, wrong = self.job.exitcode, []
        if status != 0:
            wrong = [f"{self.program} ended with {status}: {STATUS.get(status, 'unknown')}"]
        if status in (0, 1, 4):  # with the others there may be no rows
            rows = self.rows()
            wrong += [
                "{variant} {role} at {size}: {status} {reason}".format(**row)
                for row in rows
                if row["status"] != "skipped" and row["verified"] != "true"
            ]
            if not rows:
                wrong.append("no row was measured")
        return sn.assert_false(wrong, msg="; ".join(wrong))

    def known_rows(self):
        """Of this GPU, by key."""
        with open(self.references) as file:
            recorded = json.load(file)["gpus"]
        return {tuple(entry[name] for name in KEY): entry for entry in recorded.get(self.gpu, [])}

    @run_before("performance")
    def figures_of_merit(self):
        with open(os.path.join(self.stagedir, "result.json")) as file:
            self.gpu = json.load(file)["provenance"]["device"]["name"]
        known = self.known_rows()
        limits = {}
        claims = [] if known else [f"no recorded results of {self.gpu}"]
        for row in self.rows():
            if not row["time_ms"]:
                continue
            name = "{variant} {role} {config} {size} {cache} {launch}".format(**row)
            recorded = known.get(tuple(row[column] for column in KEY), {})
            if known and not recorded:
                claims.append(f"{name}: this code in this config is not recorded")
            for column, unit in (("time_ms", "ms"), ("speedup", "x")):
                if not row[column]:
                    continue
                label = name + (" time" if column == "time_ms" else " speed-up")
                value = float(row[column])
                self.perf_variables[label] = sn.make_performance_function(sn.defer(value), unit)
                if column in recorded:
                    limits[label] = (*thresholds(recorded[column]), unit)
                interval = "{} {} [{}, {}] {}".format(
                    label, row[column], row[column + "_low"], row[column + "_high"], unit
                )
                claims.append(interval if column == "time_ms" else f"{interval}: {row['claim']}")
        self.claims = "; ".join(claims)
        self.reference = {"*": limits}


def thresholds(interval):
    """What ReFrame calls a reference: the value, and what a new one may differ by, as shares."""
    value = interval["value"]
    return value, interval["low"] / value - 1, interval["high"] / value - 1


@rfm.simple_test
class AmasiaCheck(AmasiaStudy):
    """The quick study: every variant of an app at one realistic size."""

    app = parameter(
        sorted(path.parent.name for path in pathlib.Path(HERE).glob("../../apps/*/app.cpp"))
    )
