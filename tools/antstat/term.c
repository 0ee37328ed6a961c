// SPDX-License-Identifier: GPL-2.0-only
/*
 * The terminal of a full-screen view, which is given back when the program ends
 * or stops, unless it crashes or is killed.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "antstat.h"

static struct termios before;
static bool entered;
static bool is_raw;		/* its modes have to be restored */
static bool has_input;		/* keys may come */
static int signals = -1;

/* What ends or stops a program, other than its own faults, and a new size. */
static const int caught[] = {
	SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH, SIGALRM, SIGUSR1,
	SIGUSR2, SIGPIPE, SIGXCPU, SIGVTALRM, SIGPROF, SIGIO, SIGPWR,
};

/* They are read like keys, when the screen is in order. */
static void catch_signals(void)
{
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < ARRAY_SIZE(caught); i++)
		sigaddset(&set, caught[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signals = signalfd(-1, &set, SFD_CLOEXEC);
}

static void screen_on(void)
{
	struct termios raw;

	is_raw = !tcgetattr(STDIN_FILENO, &before);
	has_input = is_raw;
	if (is_raw) {
		raw = before;
		raw.c_lflag &= ~(ICANON | ECHO);
		raw.c_cc[VMIN] = 1;
		raw.c_cc[VTIME] = 0;
		tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	}
	/* the other screen, no cursor, no wrapped lines */
	fputs("\033[?1049h\033[?25l\033[?7l", stdout);
	entered = true;
}

void term_leave(void)
{
	if (!entered)
		return;
	entered = false;
	fputs("\033[?7h\033[?25h\033[?1049l", stdout);
	fflush(stdout);
	if (is_raw)
		tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

bool term_entered(void)
{
	return entered;
}

/* False if there is no terminal. */
bool term_enter(void)
{
	if (!isatty(STDOUT_FILENO))
		return false;
	catch_signals();
	atexit(term_leave);
	screen_on();
	return true;
}

void term_size(struct screen *screen)
{
	struct winsize size;

	screen->rows = 24;
	screen->columns = 80;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		return;
	if (size.ws_row)
		screen->rows = size.ws_row;
	if (size.ws_col)
		screen->columns = size.ws_col;
}

/*
 * Stop as ^Z asks, and continue with a new screen: at once in an orphaned process
 * group, which no shell could continue and the kernel does not stop.
 */
static void stop(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	term_leave();
	raise(SIGTSTP);
	/* it stops in the first of these */
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	sigprocmask(SIG_BLOCK, &set, NULL);
	screen_on();
}

/* Does the key that was pressed end it? */
static bool key_ends(void)
{
	char key = 0;

	if (read(STDIN_FILENO, &key, 1) <= 0)
		has_input = false;
	return key == 'q' || key == 'Q';
}

static bool signal_ends(void)
{
	struct signalfd_siginfo info = {};

	if (read(signals, &info, sizeof(info)) != sizeof(info))
		return true;
	if (info.ssi_signo == SIGTSTP)
		stop();
	return info.ssi_signo != SIGTSTP && info.ssi_signo != SIGWINCH;
}

/*
 * Waits until that time, or until a key is pressed or the terminal changes its
 * size. False if it is over.
 */
bool term_wait(double until)
{
	struct pollfd fds[] = {
		{ .fd = signals, .events = POLLIN },
		{ .fd = has_input ? STDIN_FILENO : -1, .events = POLLIN },
	};
	double left = until - now();

	if (poll(fds, ARRAY_SIZE(fds), left > 0 ? (int)(left * 1000) + 1 : 0) < 0)
		return false;
	if (fds[0].revents && signal_ends())
		return false;
	return !fds[1].revents || !key_ends();
}
