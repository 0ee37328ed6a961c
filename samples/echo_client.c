// SPDX-License-Identifier: GPL-2.0-only
/*
 * echo_client: many connections to an echo server at once.
 *
 *	echo_client [options] N		N connections, each with a payload of
 *					its own; checks every byte that returns
 *	echo_client --hold [options] N	N connections that stay open until the
 *					server ends them
 *
 *	--port PORT		on the loopback address (default 7007)
 *	--seconds SEC		give up after that time (default 60)
 *	--half FILE		when half of the connections have ended, keep
 *				the others open: make FILE, and continue when it
 *				is removed
 *
 * Payloads have sizes from one byte to 64 KiB. The exit status is 0 if nothing
 * was wrong.
 */
#define _GNU_SOURCE	/* POLLRDHUP */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAX_PAYLOAD	65536u
#define TICK_MS		20	/* how often FILE and the time are checked */

enum conn_state {
	CONN_ECHO,	/* sending and checking */
	CONN_CHECKED,	/* all bytes came back; open */
	CONN_ENDING,	/* nothing more to send; the server ends it too */
	CONN_HELD,	/* open until the server ends it */
	CONN_ENDED,
};

struct conn {
	unsigned int nr;
	enum conn_state state;
	bool deaf;	/* held: sends all it can, reads nothing */
	unsigned int size;
	unsigned int sent;
	unsigned int back;
};

/*
 * The gate for the second half of the connections; always GATE_OPEN without
 * --half.
 */
enum gate { GATE_AHEAD, GATE_CLOSED, GATE_OPEN };

static unsigned short port = 7007;
static int seconds = 60;
static const char *half_file;
static bool hold;

static unsigned int nr_conns;
static struct conn *conns;
static struct pollfd *fds;

static enum gate gate = GATE_OPEN;
static unsigned int nr_open, nr_ending, nr_wrong;
static unsigned long long bytes_sent, bytes_back;

/* splitmix64: computes any word of any payload, so that none must be kept. */
static unsigned long long mix(unsigned long long x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

static void payload(const struct conn *conn, unsigned int from, unsigned char *buf,
		    unsigned int len)
{
	unsigned long long word = 0;
	unsigned int i;

	for (i = 0; i < len; i++, from++) {
		if (!i || from % 8 == 0)
			word = mix((unsigned long long)(conn->nr + 1) << 32 | from / 8);
		buf[i] = word >> from % 8 * 8;
	}
}

/*
 * The first connection sends one byte, the last one 64 KiB, the others
 * something between.
 */
static unsigned int payload_size(unsigned int nr)
{
	if (!nr)
		return 1;
	if (nr == nr_conns - 1)
		return MAX_PAYLOAD;
	return 1 + mix(nr) % MAX_PAYLOAD;
}

static void wrong(const struct conn *conn, const char *what)
{
	if (!nr_wrong++)
		fprintf(stderr, "connection %u, byte %u of %u: %s\n", conn->nr,
			conn->back, conn->size, what);
}

static void set_state(struct conn *conn, enum conn_state state)
{
	conn->state = state;
	switch (state) {
	case CONN_CHECKED:
		fds[conn->nr].events = POLLIN;
		break;
	case CONN_ENDING:
		nr_ending++;
		shutdown(fds[conn->nr].fd, SHUT_WR);
		break;
	case CONN_ENDED:
		close(fds[conn->nr].fd);
		fds[conn->nr].fd = -1;
		nr_open--;
		break;
	default:
		break;
	}
}

static void send_some(struct conn *conn)
{
	unsigned char buf[8192];
	unsigned int len = conn->size - conn->sent;
	ssize_t n;

	if (len > sizeof(buf))
		len = sizeof(buf);
	payload(conn, conn->sent, buf, len);
	n = send(fds[conn->nr].fd, buf, len, MSG_NOSIGNAL);
	if (n < 0)
		return;		/* not now, or ended, which recv() sees */
	conn->sent += n;
	bytes_sent += n;
	if (conn->sent == conn->size)
		fds[conn->nr].events &= ~POLLOUT;
}

static void check(struct conn *conn, const unsigned char *got, unsigned int len)
{
	unsigned char want[8192];

	bytes_back += len;
	if (conn->back + len > conn->sent) {
		wrong(conn, "more came back than was sent");
		set_state(conn, CONN_ENDED);
		return;
	}
	payload(conn, conn->back, want, len);
	if (memcmp(want, got, len))
		wrong(conn, "another byte came back");
	conn->back += len;
	if (conn->back == conn->size)
		set_state(conn, CONN_CHECKED);
}

/* The server has ended the connection. */
static void end(struct conn *conn, int error)
{
	if (conn->state == CONN_ECHO || conn->state == CONN_CHECKED)
		wrong(conn, error ? strerror(error) : "the server hung up");
	else if (conn->state == CONN_ENDING && error)
		wrong(conn, strerror(error));
	set_state(conn, CONN_ENDED);
}

static void receive_some(struct conn *conn)
{
	unsigned char buf[8192];
	ssize_t n = recv(fds[conn->nr].fd, buf, sizeof(buf), 0);

	if (n > 0)
		check(conn, buf, n);
	else if (!n)
		end(conn, 0);
	else if (errno != EAGAIN && errno != EINTR)
		end(conn, errno);
}

/* Send without reading: the server's task gets stuck in its send. */
static void send_deaf(struct conn *conn)
{
	static const unsigned char buf[8192];

	if (send(fds[conn->nr].fd, buf, sizeof(buf), MSG_NOSIGNAL) < 0 &&
	    errno != EAGAIN && errno != EINTR)
		end(conn, errno);
}

static void serve(struct conn *conn, short revents)
{
	if (conn->deaf) {
		if (revents & (POLLERR | POLLHUP | POLLRDHUP))
			end(conn, 0);
		else if (revents & POLLOUT)
			send_deaf(conn);
		return;
	}
	if (revents & POLLOUT)
		send_some(conn);
	if (revents & ~POLLOUT)
		receive_some(conn);
}

static void connect_one(unsigned int nr)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct conn *conn = &conns[nr];
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0)
		err(1, "socket");
	/* On the loopback address the backlog accepts it at once. */
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		err(1, "connection %u", nr);
	if (fcntl(fd, F_SETFL, O_NONBLOCK))
		err(1, "fcntl");
	conn->nr = nr;
	conn->size = payload_size(nr);
	conn->state = hold ? CONN_HELD : CONN_ECHO;
	conn->deaf = hold && nr % 8 == 7;
	fds[nr].fd = fd;
	fds[nr].events = hold && !conn->deaf ? POLLIN :
			 conn->deaf ? POLLOUT | POLLRDHUP : POLLIN | POLLOUT;
	nr_open++;
}

/*
 * End what may end now: at most half of all connections while the gate is
 * closed.
 */
static void end_checked(void)
{
	unsigned int limit = gate == GATE_OPEN ? nr_conns : nr_conns / 2;
	unsigned int i;

	for (i = 0; i < nr_conns && nr_ending < limit; i++)
		if (conns[i].state == CONN_CHECKED)
			set_state(&conns[i], CONN_ENDING);
}

static void make_half_file(void)
{
	int fd = open(half_file, O_CREAT | O_WRONLY, 0600);

	if (fd < 0)
		err(1, "%s", half_file);
	close(fd);
}

static void work_the_gate(void)
{
	if (gate == GATE_AHEAD && nr_open <= nr_conns - nr_conns / 2) {
		make_half_file();
		gate = GATE_CLOSED;
	} else if (gate == GATE_CLOSED && access(half_file, F_OK)) {
		gate = GATE_OPEN;
	}
}

static void one_round(void)
{
	unsigned int i;

	if (poll(fds, nr_conns, TICK_MS) < 0 && errno != EINTR)
		err(1, "poll");
	for (i = 0; i < nr_conns; i++)
		if (fds[i].fd >= 0 && fds[i].revents)
			serve(&conns[i], fds[i].revents);
	end_checked();
	work_the_gate();
}

static void allocate(void)
{
	struct rlimit files = { nr_conns + 64, nr_conns + 64 };
	struct rlimit now;

	if (!getrlimit(RLIMIT_NOFILE, &now) && now.rlim_cur < files.rlim_cur &&
	    setrlimit(RLIMIT_NOFILE, &files))
		err(1, "%u open files", nr_conns);
	conns = calloc(nr_conns, sizeof(*conns));
	fds = calloc(nr_conns, sizeof(*fds));
	if (!conns || !fds)
		errx(1, "no memory");
}

static int report(void)
{
	if (hold)
		printf("%u connections held, %u ended by the server\n",
		       nr_conns, nr_conns - nr_open);
	else
		printf("%u connections, %llu bytes sent, %llu bytes back, %u wrong\n",
		       nr_conns, bytes_sent,
		       bytes_back, nr_wrong);
	return nr_wrong || nr_open;
}

static void options(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "half", required_argument, NULL, 'f' },
		{ "hold", no_argument, NULL, 'h' },
		{ "port", required_argument, NULL, 'p' },
		{ "seconds", required_argument, NULL, 's' },
		{ }
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "", longs, NULL)) >= 0) {
		if (opt == 'f')
			half_file = optarg;
		else if (opt == 'h')
			hold = true;
		else if (opt == 'p')
			port = atoi(optarg);
		else if (opt == 's')
			seconds = atoi(optarg);
		else
			exit(2);
	}
	if (optind != argc - 1 || atoi(argv[optind]) < 1)
		errx(1, "how many connections?");
	nr_conns = atoi(argv[optind]);
	if (half_file && !hold)
		gate = GATE_AHEAD;
}

int main(int argc, char **argv)
{
	time_t until;
	unsigned int i;

	options(argc, argv);
	allocate();
	until = time(NULL) + seconds;
	for (i = 0; i < nr_conns; i++)
		connect_one(i);
	while (nr_open && time(NULL) < until)
		one_round();
	if (nr_open)
		fprintf(stderr, "echo_client: %u connections open after %d s\n",
			nr_open, seconds);
	return report();
}
