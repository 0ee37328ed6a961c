// SPDX-License-Identifier: GPL-2.0-only
//
// dm-crypt on two pools of its own for each device: one that encrypts and decrypts,
// one that reads when there is no memory at once. A bio that was one work_struct is
// one work item. The thread that writes, with its tree of sorted bios, stays.
//
// tools/driver dm-crypt applies this, and reads the lines that follow.
// source: drivers/md/dm-crypt.c
// module: dm-crypt
// kernel: stock-6.1-modules
// needs: dm-mod brd xts ecb
// package: dmsetup
//
// What stays as it is: the two queues are apart, because a bio that waits in the
// first one for memory must not keep those from ending that give memory back; both
// go on without memory for another thread; no_read_workqueue and no_write_workqueue
// skip them. What changes: the number of threads that encrypt for a device is set in
// /sys/kernel/ants/kcryptd-MAJOR:MINOR/capacity, and is that of CPUs at first. And
// same_cpu_crypt is accepted without effect: no thread of a pool belongs to a CPU.

@headers@
@@
 #include <linux/workqueue.h>
+#include <linux/ants.h>

// --- a bio ------------------------------------------------------------------------

// An item may be queued again, in the other pool, before its function has returned,
// and the function may end the bio that it is a part of. Hence it is detached.
@item@
attribute name CRYPTO_MINALIGN_ATTR;
@@
 struct dm_crypt_io {
 ...
-struct work_struct work;
+struct ants_delayed_work work;
 ...
 } CRYPTO_MINALIGN_ATTR;

@functions@
identifier fn, io;
symbol work;
@@
-static void fn(struct work_struct *work)
+static int fn(struct ants_work *item)
 {
-struct dm_crypt_io *io = container_of(work, struct dm_crypt_io, work);
+struct dm_crypt_io *io = container_of(item, struct dm_crypt_io, work.work);
 ...
+return 0;
 }

@run_in_place@
expression io;
@@
-kcryptd_crypt(&io->work)
+kcryptd_crypt(&io->work.work)

@queue@
expression io, fn, pool;
@@
-INIT_WORK(&io->work, fn);
-queue_work(pool, &io->work);
+crypt_queue_io(pool, io, fn);

// --- the pools ---------------------------------------------------------------------

// No bio may be refused here. The pools have room for every one; if an administrator
// has taken that away, an item waits for room by itself. A table may be loaded while
// the one before it is in use, so that the name of a device may be taken.
@pools@
@@
 struct crypt_config {
 ...
-struct workqueue_struct
+struct ants_pool
 *io_queue;
-struct workqueue_struct
+struct ants_pool
 *crypt_queue;
 ...
 };
+
+static void crypt_queue_io(struct ants_pool *pool, struct dm_crypt_io *io,
+			   ants_work_fn_t fn)
+{
+	int err;
+
+	INIT_ANTS_DELAYED_WORK_DETACHED(&io->work, fn);
+	err = ants_queue_work(pool, &io->work.work);
+	if (err == -EAGAIN)
+		err = ants_queue_delayed_work(pool, &io->work, 0);
+	WARN_ON_ONCE(err);
+}
+
+static struct ants_pool *crypt_create_pool(const char *queue, const char *device)
+{
+	const struct ants_attrs attrs = {
+		.queue_depth = INT_MAX,
+		.max_faults = INT_MAX,
+		.flags = ANTS_MEM_RECLAIM,
+	};
+	struct ants_pool *pool;
+	unsigned int nr = 1;
+
+	pool = ants_pool_create(&attrs, "%s-%s", queue, device);
+	while (pool == ERR_PTR(-EEXIST))
+		pool = ants_pool_create(&attrs, "%s-%s~%u", queue, device, ++nr);
+	return IS_ERR(pool) ? NULL : pool;
+}

@create_io@
expression cc, device;
@@
-cc->io_queue = alloc_workqueue(..., device);
+cc->io_queue = crypt_create_pool("kcryptd_io", device);

@create_crypt@
expression cc, device;
@@
-if (test_bit(DM_CRYPT_SAME_CPU, ...))
-	cc->crypt_queue = alloc_workqueue(..., device);
-else
-	cc->crypt_queue = alloc_workqueue(..., device);
+cc->crypt_queue = crypt_create_pool("kcryptd", device);

@destroy@
expression cc;
@@
 crypt_dtr(...)
 {
 ...
-if (cc->io_queue) destroy_workqueue(cc->io_queue);
-if (cc->crypt_queue) destroy_workqueue(cc->crypt_queue);
+ants_pool_destroy(cc->io_queue);
+ants_pool_destroy(cc->crypt_queue);
 ...
 }
