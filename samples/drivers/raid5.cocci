// SPDX-License-Identifier: GPL-2.0-only
//
// RAID 4, 5 and 6 with a pool for each of its thread groups, of which there is one for
// each node. The capacity of the pool is what group_thread_cnt says, and changes while
// the array works: the groups stay where they are, so nothing has to be suspended.
//
// tools/driver raid5 applies this, and reads the lines that follow.
// source: drivers/md/raid5.h
// source: drivers/md/raid5.c
// source: drivers/md/raid5-cache.c
// source: drivers/md/raid5-ppl.c
// module: raid456
// kernel: stock-6.1-modules
// needs: brd md-mod async_memcpy async_pq async_raid6_recov async_xor libcrc32c
// trial: no
//
// What stays as it is: without threads, group_thread_cnt 0, the array's own thread does
// all; else a group has one more thread for each eight stripes that wait. What changes:
// stripes are in the lists of the groups even then, in those of the last one, where the
// array's own thread finds them as before, so that none has to move when threads come or
// go; and a worker's list of stripes that it has done is on its stack. <linux/ants_workqueue.h> alone would
// not do: that the items of a group stay on its node is what the driver asks for with
// queue_work_on().

@headers@
@@
 #include <linux/dmaengine.h>
+#include <linux/sched/mm.h>
+#include <linux/ants.h>

// --- the groups ---------------------------------------------------------------------

@thread@
@@
-struct r5worker {
-	...
-};

@thread_group@
@@
 struct r5worker_group {
 ...
-struct r5worker *workers;
+struct ants_pool *pool;
+struct ants_work work;
 ...
 };

@lists@
@@
 struct r5conf {
 ...
-struct list_head handle_list;
-struct list_head loprio_list;
 ...
 };

// Without threads all stripes are in one group, in the order in which they came. It is the
// last one, because the array's own thread prefers the first one that has stripes: those
// that threads have left behind come before.
//
// The item of a group makes sure that a stripe is seen: queued while it runs, it runs
// once more. If the pool is full of others, the array's own thread sees to it. Further
// threads of the group are plain tasks, which the pool may refuse.
@wake_group@
@@
-static struct workqueue_struct *raid5_wq;
+static void raid5_do_work(void *data);
+
+static int raid5_do_item(struct ants_work *item)
+{
+	raid5_do_work(container_of(item, struct r5worker_group, work));
+	return 0;
+}
+
+static struct r5worker_group *raid5_last_group(struct r5conf *conf)
+{
+	return conf->worker_groups + conf->group_cnt - 1;
+}
+
+static void raid5_queue_group(struct r5worker_group *group)
+{
+	int err = ants_queue_work(group->pool, &group->work);
+
+	if (err && err != -EALREADY)
+		md_wakeup_thread(group->conf->mddev->thread);
+}

@choose_group@
identifier group;
symbol conf, cpu;
@@
 raid5_wakeup_stripe_thread(...)
 {
 <...
-group = conf->worker_groups + cpu_to_group(cpu);
+group = conf->worker_cnt_per_group ? conf->worker_groups + cpu_to_group(cpu) :
+				     raid5_last_group(conf);
 ...>
 }

@wakeup@
identifier group, cnt, i;
symbol true, conf;
@@
 raid5_wakeup_stripe_thread(...)
 {
 ...
-group->workers[0].working = true;
-queue_work_on(...);
+raid5_queue_group(group);
 cnt = ...;
-for (i = 1; i < conf->worker_cnt_per_group && cnt > 0; i++) { ... }
+for (i = 0; i < cnt; i++)
+	if (ants_try_submit(group->pool, raid5_do_work, group))
+		break;
 }

// --- stripes are in the lists of the groups ----------------------------------------------

@release@
expression sh;
@@
 do_release_stripe(...)
 {
 <...
-if (conf->worker_cnt_per_group == 0) { ... }
-else {
 raid5_wakeup_stripe_thread(sh);
 return;
-}
 ...>
 }

@next_stripe@
statement in_groups;
@@
 __get_priority_stripe(...)
 {
 <...
-if (conf->worker_cnt_per_group == 0) { ... } else
 in_groups
 ...>
 }

@defer@
@@
 ops_run_io(...)
 {
 <...
-conf->group_cnt
+conf->worker_cnt_per_group
 ...>
 }

// --- a task -----------------------------------------------------------------------------

@handle_stripes@
identifier conf, group, worker, list;
@@
 handle_active_stripes(struct r5conf *conf, int group,
-		       struct r5worker *worker,
		       struct list_head *list)
 { ... }

@handle_any@
expression conf, list;
@@
 handle_active_stripes(conf, ANY_GROUP,
-		       NULL,
		       list)

@task_handles@
expression conf, group;
symbol worker;
@@
 handle_active_stripes(conf, group,
-		       worker, worker->temp_inactive_list)
+		       temp_inactive_list)

@task_releases@
expression conf;
@@
 release_stripe_list(conf,
-		     worker->temp_inactive_list)
+		     temp_inactive_list)

@task_works@
symbol false;
@@
-worker->working = false;

@task@
identifier group, plug;
symbol work;
@@
-static void raid5_do_work(struct work_struct *work)
+static void raid5_do_work(void *data)
 {
-struct r5worker *worker = container_of(work, struct r5worker, work);
+struct list_head temp_inactive_list[NR_STRIPE_HASH_LOCKS];
-struct r5worker_group *group = worker->group;
+struct r5worker_group *group = data;
 ...
+for (handled = 0; handled < NR_STRIPE_HASH_LOCKS; handled++)
+	INIT_LIST_HEAD(temp_inactive_list + handled);
 blk_start_plug(&plug);
 ...
 }

// --- the life of the groups, and their number of threads --------------------------------

@alloc@
@@
-static int alloc_thread_groups(...)
-{
-...
-}

// A machine may lack nodes in between, and a CPU of any node wants a group.
@free@
@@
+static int alloc_thread_groups(struct r5conf *conf)
+{
+	struct r5worker_group *group;
+	int i;
+
+	conf->worker_groups = kcalloc(nr_node_ids, sizeof(*group), GFP_KERNEL);
+	if (!conf->worker_groups)
+		return -ENOMEM;
+	conf->group_cnt = nr_node_ids;
+	for (i = 0; i < conf->group_cnt; i++) {
+		group = conf->worker_groups + i;
+		group->conf = conf;
+		INIT_LIST_HEAD(&group->handle_list);
+		INIT_LIST_HEAD(&group->loprio_list);
+		INIT_ANTS_WORK(&group->work, raid5_do_item);
+	}
+	return 0;
+}
+
+static void raid5_destroy_pools(struct r5conf *conf)
+{
+	int i;
+
+	conf->worker_cnt_per_group = 0;
+	for (i = 0; i < conf->group_cnt; i++)
+		ants_pool_destroy(conf->worker_groups[i].pool);
+}
+
 static void free_thread_groups(...)
 {
-if (conf->worker_groups) kfree(conf->worker_groups[0].workers);
 ...
 }

// A task that has done its last stripe may still be on its way out, and uses the log.
// What the log has yet to release finds the lists of the groups.
@free_conf@
expression conf;
@@
 free_conf(...)
 {
 ...
+raid5_destroy_pools(conf);
 log_exit(conf);
 ...
 }

@setup@
identifier cnt, groups, out;
expression conf;
@@
-if (!alloc_thread_groups(conf, 0, &cnt, &groups)) { ... } else
+if (alloc_thread_groups(conf))
 goto out;

@setup_lists@
symbol conf;
@@
 setup_conf(...)
 {
 <...
-INIT_LIST_HEAD(&conf->handle_list);
-INIT_LIST_HEAD(&conf->loprio_list);
 ...>
 }

@setup_variables@
identifier setup.cnt, setup.groups;
@@
 setup_conf(...)
 {
 ...
-int cnt;
-struct r5worker_group *groups;
 ...
 }

// A pool comes with the first thread, and stays. Stripes that are in the lists when
// there is no thread any more are for the array's own. That the array is not suspended
// is why no memory may be had by writing to it: its superblock waits for this caller.
// kthreadd, which makes the first thread, cannot be told, as elsewhere in md.
@tune@
@@
+static int raid5_tune_group(struct r5conf *conf, int node, unsigned int cnt)
+{
+	struct r5worker_group *group = conf->worker_groups + node;
+	struct ants_attrs attrs = {
+		.capacity = cnt,
+		.max_faults = INT_MAX,
+		.flags = ANTS_MEM_RECLAIM | ANTS_FIXED,
+	};
+	struct ants_pool *pool;
+
+	if (group->pool)
+		return ants_tune(group->pool, cnt);
+	if (node_online(node)) {
+		attrs.node = node;
+		attrs.flags |= ANTS_ON_NODE;
+	}
+	pool = ants_pool_create(&attrs, "%s_raid5-%d", mdname(conf->mddev), node);
+	if (IS_ERR(pool))
+		return PTR_ERR(pool);
+	group->pool = pool;
+	return 0;
+}
+
+static int raid5_tune_groups(struct r5conf *conf, unsigned int cnt)
+{
+	unsigned int noio = memalloc_noio_save();
+	int err = 0;
+	int i;
+
+	for (i = 0; cnt && !err && i < conf->group_cnt; i++)
+		if (node_possible(i))
+			err = raid5_tune_group(conf, i, cnt);
+	memalloc_noio_restore(noio);
+	if (err)
+		return err;
+	spin_lock_irq(&conf->device_lock);
+	conf->worker_cnt_per_group = cnt;
+	if (cnt)
+		raid5_queue_group(raid5_last_group(conf));
+	spin_unlock_irq(&conf->device_lock);
+	md_wakeup_thread(conf->mddev->thread);
+	return 0;
+}
+
 static ssize_t raid5_store_group_thread_cnt(...)
 {
 ...
 }

@store@
identifier groups, err, new;
expression conf, mddev;
@@
-mddev_suspend(mddev);
-groups = conf->worker_groups;
-if (groups) flush_workqueue(raid5_wq);
-err = alloc_thread_groups(conf, new, ...);
-if (!err) { ... }
-mddev_resume(mddev);
+err = raid5_tune_groups(conf, new);

@store_groups@
identifier groups;
@@
 raid5_store_group_thread_cnt(...)
 {
 <...
-struct r5worker_group *groups;
 ...>
 }

@store_count@
symbol group_cnt;
@@
 raid5_store_group_thread_cnt(...)
 {
 <...
-int group_cnt;
 ...>
 }

// --- the workqueue of all arrays ---------------------------------------------------------

@init@
@@
-raid5_wq = alloc_workqueue(...);
-if (!raid5_wq) return -ENOMEM;

@exit@
@@
-destroy_workqueue(raid5_wq);
