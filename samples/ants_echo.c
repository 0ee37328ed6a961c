// SPDX-License-Identifier: GPL-2.0-only
/*
 * ants_echo: a TCP echo server in the kernel, one blocking task a connection.
 *
 * One thread accepts connections and hands each to a pool of ants. When all
 * threads of the pool are busy, ants_submit() makes the accepting thread wait:
 * further connections stay in the listener's backlog until one of those being
 * served ends. However many clients come, threads and memory are bounded, and a
 * task may block for as long as its client likes.
 *
 * This is an example and not a service, so it listens on the loopback address
 * only.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ants.h>
#include <linux/err.h>
#include <linux/in.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/net.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/socket.h>
#include <linux/tcp.h>
#include <linux/uio.h>
#include <net/net_namespace.h>
#include <net/sock.h>

#define ECHO_BACKLOG	1024	/* connections that wait to be accepted */
#define ECHO_BUF	4096	/* bytes that a connection echoes at once */

static ushort port = 7007;
module_param(port, ushort, 0444);
MODULE_PARM_DESC(port, "TCP port on the loopback address (default 7007)");

static uint capacity = 64;
module_param(capacity, uint, 0444);
MODULE_PARM_DESC(capacity, "connections that are served at once (default 64)");

/**
 * struct echo_conn - one connection
 * @node: in echo_conns
 * @sock: the socket
 * @buf: bytes on their way back
 *
 * A connection belongs to the accepting thread until ants_submit() has
 * succeeded, and to its task from then on; its owner frees it.
 */
struct echo_conn {
	struct list_head node;
	struct socket *sock;
	char buf[ECHO_BUF];
};

/* Guards echo_conns; each connection on the list has a socket. */
static DEFINE_MUTEX(echo_lock);
static LIST_HEAD(echo_conns);

static struct ants_pool *echo_pool;
static struct socket *echo_listener;
static struct task_struct *echo_acceptor;

static struct echo_conn *echo_conn_new(struct socket *sock)
{
	struct echo_conn *conn = kmalloc(sizeof(*conn), GFP_KERNEL);

	if (!conn)
		return NULL;
	conn->sock = sock;
	mutex_lock(&echo_lock);
	list_add(&conn->node, &echo_conns);
	mutex_unlock(&echo_lock);
	return conn;
}

static void echo_conn_free(struct echo_conn *conn)
{
	/* Off the list first: echo_hang_up() uses every socket on it. */
	mutex_lock(&echo_lock);
	list_del(&conn->node);
	mutex_unlock(&echo_lock);
	sock_release(conn->sock);
	kfree(conn);
}

static int echo_recv(struct echo_conn *conn)
{
	struct kvec vec = { .iov_base = conn->buf, .iov_len = ECHO_BUF };
	struct msghdr msg = {};

	return kernel_recvmsg(conn->sock, &msg, &vec, 1, ECHO_BUF, 0);
}

/* Send all of it, unless the connection breaks. */
static int echo_send(struct echo_conn *conn, int len)
{
	struct kvec vec = { .iov_base = conn->buf, .iov_len = len };
	struct msghdr msg = { .msg_flags = MSG_NOSIGNAL };

	return kernel_sendmsg(conn->sock, &msg, &vec, 1, len);
}

/* The task: block in the socket until the client or echo_hang_up() ends it. */
static void echo_serve(void *data)
{
	struct echo_conn *conn = data;
	int len;

	do {
		len = echo_recv(conn);
	} while (len > 0 && echo_send(conn, len) == len);
	echo_conn_free(conn);
}

/*
 * Hand a new connection to the pool; the accepting thread may have to wait
 * here.
 */
static void echo_start(struct socket *sock)
{
	struct echo_conn *conn = echo_conn_new(sock);

	if (!conn) {
		sock_release(sock);
		return;
	}
	tcp_sock_set_nodelay(sock->sk);
	if (ants_submit(echo_pool, echo_serve, conn))
		echo_conn_free(conn);
}

static int echo_accept(void *unused)
{
	struct socket *sock;

	while (!kthread_should_stop()) {
		/*
		 * Either memory is short, or the listener is shut down and
		 * kthread_stop() is about to be called. It must find the
		 * thread alive, so only kthread_should_stop() ends this loop.
		 */
		if (kernel_accept(echo_listener, &sock, 0))
			schedule_timeout_interruptible(HZ / 10);
		else
			echo_start(sock);
	}
	return 0;
}

static int echo_bind(struct socket *sock)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};

	sock_set_reuseaddr(sock->sk);
	/* A void pointer, as the type of the address depends on the kernel. */
	return kernel_bind(sock, (void *)&addr, sizeof(addr));
}

static struct socket *echo_listen(void)
{
	struct socket *sock;
	int err;

	err = sock_create_kern(&init_net, AF_INET, SOCK_STREAM, IPPROTO_TCP,
			       &sock);
	if (err)
		return ERR_PTR(err);
	err = echo_bind(sock);
	if (!err)
		err = kernel_listen(sock, ECHO_BACKLOG);
	if (err) {
		sock_release(sock);
		return ERR_PTR(err);
	}
	return sock;
}

/* End what every task waits for; each task then frees its connection itself. */
static void echo_hang_up(void)
{
	struct echo_conn *conn;

	mutex_lock(&echo_lock);
	list_for_each_entry(conn, &echo_conns, node)
		kernel_sock_shutdown(conn->sock, SHUT_RDWR);
	mutex_unlock(&echo_lock);
}

static int __init ants_echo_init(void)
{
	struct ants_attrs attrs = { .capacity = capacity };
	int err;

	echo_pool = ants_pool_create(&attrs, "echo");
	if (IS_ERR(echo_pool))
		return PTR_ERR(echo_pool);
	echo_listener = echo_listen();
	if (IS_ERR(echo_listener)) {
		err = PTR_ERR(echo_listener);
		goto err_pool;
	}
	echo_acceptor = kthread_run(echo_accept, NULL, "echo_accept");
	if (IS_ERR(echo_acceptor)) {
		err = PTR_ERR(echo_acceptor);
		goto err_listener;
	}
	pr_info("port %hu, capacity %u\n", port, ants_capacity(echo_pool));
	return 0;

err_listener:
	sock_release(echo_listener);
err_pool:
	ants_pool_destroy(echo_pool);
	return err;
}
module_init(ants_echo_init);

/*
 * The order matters. Once the listener is shut down no connection is accepted,
 * and the release refuses one that was accepted and waits for room. So the
 * accepting thread ends, and nothing is added to the list any more. Hanging up
 * then reaches all tasks, started or not, and the pool waits for them.
 */
static void __exit ants_echo_exit(void)
{
	kernel_sock_shutdown(echo_listener, SHUT_RDWR);
	ants_release(echo_pool);
	kthread_stop(echo_acceptor);
	echo_hang_up();
	ants_pool_destroy(echo_pool);
	sock_release(echo_listener);
}
module_exit(ants_echo_exit);

MODULE_DESCRIPTION("ants: a TCP echo server, one blocking task a connection");
MODULE_AUTHOR("The ants authors");
MODULE_LICENSE("GPL");
