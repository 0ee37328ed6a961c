# SPDX-License-Identifier: GPL-2.0-only
"""Programs and guests that run in sessions of their own. What is sent to a terminal's
foreground, or to this program, does not reach them: so whoever ends it ends them."""

import os
import signal
import subprocess


class Job(subprocess.Popen):
    """Leads a session, reads nothing, and says all in one file."""
    running = set()

    def __init__(self, command, said, **options):
        super().__init__(command, stdout=said, stderr=said, stdin=subprocess.DEVNULL,
                         start_new_session=True, **options)
        self.running.add(self)

    def __exit__(self, *error):
        super().__exit__(*error)
        self.running.discard(self)

    def kill_all(self, number):
        os.killpg(self.pid, number)


def end_all():
    for job in list(Job.running):
        if job.poll() is None:
            job.kill_all(signal.SIGTERM)
