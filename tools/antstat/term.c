// SPDX-License-Identifier: GPL-2.0-only
/* The terminal of a full-screen view, which is given back whatever happens. */
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
static bool entered, has_input;
static int signals = -1;

/* They are read like keys, when the screen is in order. */
static void catch_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGTSTP);
	sigaddset(&set, SIGWINCH);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signals = signalfd(-1, &set, SFD_CLOEXEC);
}

static void screen_on(void)
{
	struct termios raw;

	has_input = !tcgetattr(STDIN_FILENO, &before);
	if (has_input) {
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
	if (has_input)
		tcsetattr(STDIN_FILENO, TCSANOW, &before);
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

/* Stops as ^Z asks, and goes on with a new screen. */
static void stop(void)
{
	term_leave();
	raise(SIGSTOP);
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
