# Lockdep is off after its report, which this suite provokes.
loglevel=7
