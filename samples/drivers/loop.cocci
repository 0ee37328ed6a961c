// SPDX-License-Identifier: GPL-2.0-only
//
// The loop driver on a pool of its own for each device: one work item for each
// request, in the order in which the requests come. The driver's workqueue, its
// tree of workers with one for each cgroup, their idle list and timer go.
//
// tools/driver loop applies this, and reads the lines that follow.
// source: drivers/block/loop.c
// module: loop
// kernel: stock-6.1
//
// What stays as it is: a request runs on behalf of the cgroups of its submitter,
// which the driver itself arranges for each request; nothing starts while the
// system is suspended; no request waits for a thread that waits on behalf of another
// cgroup. What changes: requests of one cgroup run side by side, as many as the
// capacity says, in /sys/kernel/ants/loopN/capacity; the block layer orders none that
// are in flight together. And a request needs no memory to be
// queued, so it never runs on behalf of another cgroup for lack of it.

@headers@
@@
 #include <linux/blk-mq.h>
+#include <linux/ants.h>

// --- what goes ------------------------------------------------------------------

@idle_timeout@
expression timeout;
@@
-#define LOOP_IDLE_WORKER_TIMEOUT timeout

@root_worker@
identifier css;
@@
-static inline int queue_on_root_worker(struct cgroup_subsys_state *css)
-{
-...
-}

@choose_worker@
@@
-static void loop_queue_work(...)
-{
-...
-}

@set_timer@
@@
-static void loop_set_timer(...)
-{
-...
-}

@free_idle_workers@
@@
-static void loop_free_idle_workers(...)
-{
-...
-}

@idle_timer@
@@
-static void loop_free_idle_workers_timer(...)
-{
-...
-}

@process_work@
@@
-static void loop_process_work(...)
-{
-...
-}

@workfn@
@@
-static void loop_workfn(...)
-{
-...
-}

@root_workfn@
@@
-static void loop_rootcg_workfn(...)
-{
-...
-}

// --- what comes -----------------------------------------------------------------

// An item may run again, in the block layer's next request, before its function has
// returned, hence it is detached. Nobody would hear of one that the pool has accepted
// and given up after too many faults, so there are never too many.
//
// A thread may sleep for long on behalf of a cgroup, for its share of the disk or for
// memory. So each request may have a thread. The pool has room for every request that
// the block layer may have in flight. Only an administrator who writes to queue_depth
// and capacity can make it full; a request then goes back to the block layer, which is
// told when there is room.
@pool@
typedef blk_status_t;
@@
-struct loop_worker { ... };
+static void loop_handle_cmd(struct loop_cmd *cmd);
+
+static int loop_run_cmd(struct ants_work *work)
+{
+	struct loop_cmd *cmd = container_of(work, struct loop_cmd, work);
+	unsigned int flags = current->flags;
+
+	current->flags |= PF_LOCAL_THROTTLE | PF_MEMALLOC_NOIO;
+	loop_handle_cmd(cmd);
+	current_restore_flags(flags, PF_LOCAL_THROTTLE | PF_MEMALLOC_NOIO);
+	return 0;
+}
+
+static blk_status_t loop_queue_cmd(struct loop_device *lo, struct loop_cmd *cmd)
+{
+	int err;
+
+	INIT_ANTS_WORK_DETACHED(&cmd->work, loop_run_cmd);
+	err = ants_queue_work(lo->pool, &cmd->work);
+	if (!err)
+		return BLK_STS_OK;
+	if (cmd->memcg_css)
+		css_put(cmd->memcg_css);
+	return err == -EAGAIN ? BLK_STS_RESOURCE : BLK_STS_IOERR;
+}
+
+static void loop_space_available(struct ants_pool *pool)
+{
+	struct loop_device *lo = ants_pool_private(pool);
+
+	blk_mq_run_hw_queues(lo->lo_queue, true);
+}
+
+static int loop_create_pool(struct loop_device *lo)
+{
+	const struct ants_attrs attrs = {
+		.capacity = lo->tag_set.queue_depth,
+		.queue_depth = lo->tag_set.queue_depth,
+		.max_faults = INT_MAX,
+		.space_available = loop_space_available,
+		.private = lo,
+		.flags = ANTS_FREEZABLE | ANTS_MEM_RECLAIM,
+	};
+	struct ants_pool *pool;
+
+	pool = ants_pool_create(&attrs, "loop%d", lo->lo_number);
+	if (IS_ERR(pool))
+		return PTR_ERR(pool);
+	lo->pool = pool;
+	return 0;
+}

// --- the device and its requests ------------------------------------------

@device@
@@
 struct loop_device {
 ...
-spinlock_t lo_work_lock;
-struct workqueue_struct *workqueue;
-struct work_struct rootcg_work;
-struct list_head rootcg_cmd_list;
-struct list_head idle_worker_list;
-struct rb_root worker_tree;
-struct timer_list timer;
+struct ants_pool *pool;
 ...
 };

@command@
@@
 struct loop_cmd {
-struct list_head list_entry;
+struct ants_work work;
 ...
 };

@new_device@
expression lo;
symbol loop_free_idle_workers_timer, loop_rootcg_workfn;
@@
 loop_add(...)
 {
 ...
-lo->worker_tree = RB_ROOT;
-INIT_LIST_HEAD(&lo->idle_worker_list);
-timer_setup(&lo->timer, loop_free_idle_workers_timer, ...);
 ...
-spin_lock_init(&lo->lo_work_lock);
-INIT_WORK(&lo->rootcg_work, loop_rootcg_workfn);
-INIT_LIST_HEAD(&lo->rootcg_cmd_list);
 ...
 }

@queue_request@
expression lo, cmd;
@@
-loop_queue_work(lo, cmd);
-return BLK_STS_OK;
+return loop_queue_cmd(lo, cmd);

// --- the pool's life: from the first file to the end of the device ------------------

@create@
expression lo, error, code;
identifier out;
@@
-lo->workqueue = alloc_workqueue(...);
-if (!lo->workqueue) {
-	error = code;
+error = loop_create_pool(lo);
+if (error)
 	goto out;
-}

@created@
expression lo;
@@
 loop_configure(...)
 {
 <...
-!lo->workqueue
+!lo->pool
 ...>
 }

@free_device@
expression lo;
symbol true;
@@
 lo_free_disk(...)
 {
 ...
-if (lo->workqueue) destroy_workqueue(lo->workqueue);
-loop_free_idle_workers(lo, true);
-del_timer_sync(&lo->timer);
 ...
 }

// The disk may outlive the device; its number, and with it the name of the pool,
// is free for another device before.
@remove_device@
expression lo;
@@
 loop_remove(...)
 {
 ...
 del_gendisk(lo->lo_disk);
+ants_pool_destroy(lo->pool);
 ...
 }
