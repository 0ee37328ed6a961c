// SPDX-License-Identifier: GPL-2.0-only
//
// The NVMe target on a pool of its own for each namespace that is a file: a request that
// has to wait for the file is a work item, and as many of them sleep at once as the
// capacity says. The workqueue for buffered I/O goes, which has a kworker for each.
//
// tools/driver nvmet applies this, and reads the lines that follow. The transport is built
// as it is, against the ported header file.
// source: drivers/nvme/target/nvmet.h drivers/nvme/target/trace.h drivers/nvme/target/trace.c
// source: drivers/nvme/target/core.c drivers/nvme/target/configfs.c
// source: drivers/nvme/target/admin-cmd.c drivers/nvme/target/fabrics-cmd.c
// source: drivers/nvme/target/discovery.c drivers/nvme/target/zns.c
// source: drivers/nvme/target/io-cmd-file.c drivers/nvme/target/io-cmd-bdev.c
// source: drivers/nvme/target/tcp.c
// module: nvmet core.c configfs.c admin-cmd.c fabrics-cmd.c discovery.c io-cmd-file.c io-cmd-bdev.c zns.c trace.c
// module: nvmet-tcp tcp.c
// kernel: stock-6.1-modules
// needs: null_blk nvme-tcp
// trial: no
//
// The transport calls the target from io_work, of which each connection has one. If the
// pool is full, io_work waits there for room. Nothing reads from the connection then:
// its TCP window closes, and the client waits. The data of a request stays with the
// client if it would come with the request (param_inline_data_size). If the target asks
// for it instead, its memory is allocated before the request gets here.
//
// That wait would not end if a task of the pool needed io_work to go on. None does. A
// task reads or writes the file, and completes the request. For that the transport puts
// the answer on a list and queues io_work, which are two things that never wait.
// release_work, which ends a connection, does wait for io_work and for the requests,
// but it is an item of nvmet_wq, where no task of a pool is. If the file is on a disk
// that this target serves, too, a task needs io_work of another connection, and room
// in another namespace's pool; that is why each namespace has its own. It holds for up
// to 256 connections to the upper one on a CPU: so many items of a workqueue may sleep.
// nvme-loop would not do as a transport: there requests are items of nvmet_wq.
//
// What changes: a request waits for those before it on its connection, also if these
// are for another namespace. The admin queue, and so the keep-alive, has a connection
// of its own. Flush, discard and write zeroes are work items of the pool as well. What
// stays: what the page cache has at once is read in io_work, and nvmet_wq and
// nvmet_tcp_wq are workqueues. They have one item for each connection or controller;
// those of nvmet_tcp_wq run on the CPU where packets arrive.

@headers@
symbol buffered_io_wq, f, nvmet_wq, work;
@@
 #include <linux/radix-tree.h>
+#include <linux/ants.h>

// --- what goes ----------------------------------------------------------------------

@wq_extern@
@@
-extern struct workqueue_struct *buffered_io_wq;

@wq_pointer@
@@
-struct workqueue_struct *buffered_io_wq;

@wq_create@
identifier out;
@@
-buffered_io_wq = alloc_workqueue(...);
-if (!buffered_io_wq)
-	goto out;

@wq_error@
identifier wq_create.out, other;
@@
 nvmet_wq = alloc_workqueue(...);
 if (!nvmet_wq)
-	goto other;
+	goto out;

@wq_label@
identifier wq_error.other;
@@
-other:
 destroy_workqueue(buffered_io_wq);

@wq_destroy@
@@
-destroy_workqueue(buffered_io_wq);

// --- a request, and its namespace ---------------------------------------------------

@request@
@@
 struct nvmet_req {
 ...
 union {
 ...
 struct {
 bool mpool_alloc;
 struct kiocb iocb;
 struct bio_vec *bvec;
-struct work_struct work;
+struct ants_work work;
 } f;
 ...
 };
 ...
 };

@namespace@
@@
 struct nvmet_ns {
 ...
 struct file *file;
+struct ants_pool *pool;
 ...
 };

// --- what comes -----------------------------------------------------------------

// No queue: a request that has no thread yet waits in io_work. The end of the
// subsystem's name, which has to be ASCII, mostly tells it from others; 40 bytes of it
// have room for a UUID. The request may be another one before the item's function has
// returned, hence the item is detached. Nobody would hear of one that the pool has
// accepted and given up after too many faults, so there are never too many.
@pool@
@@
+#define NVMET_FILE_CAPACITY	16
+
+static int nvmet_file_create_pool(struct nvmet_ns *ns)
+{
+	const struct ants_attrs attrs = {
+		.capacity = NVMET_FILE_CAPACITY,
+		.max_faults = INT_MAX,
+		.flags = ANTS_MEM_RECLAIM,
+	};
+	const char *nqn = ns->subsys->subsysnqn;
+	size_t len = strlen(nqn);
+	struct ants_pool *pool;
+	unsigned int nr = 1;
+
+	nqn += len > 40 ? len - 40 : 0;
+	pool = ants_pool_create(&attrs, "nvmet-%s-%u", nqn, ns->nsid);
+	while (pool == ERR_PTR(-EEXIST))
+		pool = ants_pool_create(&attrs, "nvmet-%s-%u~%u", nqn, ns->nsid, ++nr);
+	ns->pool = IS_ERR(pool) ? NULL : pool;
+	return PTR_ERR_OR_ZERO(pool);
+}
+
+static int nvmet_file_queue_work(struct nvmet_req *req, ants_work_fn_t fn)
+{
+	INIT_ANTS_WORK_DETACHED(&req->f.work, fn);
+	return ants_queue_work_timeout(req->ns->pool, &req->f.work,
+				       MAX_SCHEDULE_TIMEOUT);
+}
+
+static void nvmet_file_queue(struct nvmet_req *req, ants_work_fn_t fn)
+{
+	int err = nvmet_file_queue_work(req, fn);
+
+	if (err)
+		nvmet_req_complete(req, errno_to_nvme_status(req, err));
+}
+
 void nvmet_file_ns_disable(...)
 {
 ...
 }

// --- the functions of work items ----------------------------------------------------

@work_function@
identifier fn, req, w;
@@
-static void fn(struct work_struct *w)
+static int fn(struct ants_work *w)
 {
 struct nvmet_req *req = container_of(w, struct nvmet_req, f.work);
 ...
 }

@early_result@
identifier work_function.fn;
@@
 fn(...)
 {
 <+...
-return;
+return 0;
 ...+>
 }

@result@
identifier work_function.fn, work_function.req;
@@
 fn(...)
 {
 ... when any
(
 nvmet_req_complete(req, ...);
|
 nvmet_file_execute_io(req, 0);
)
+return 0;
 }

@queue_io@
expression req, fn;
@@
-INIT_WORK(&req->f.work, fn);
-queue_work(buffered_io_wq, &req->f.work);
+int err = nvmet_file_queue_work(req, fn);
+
+if (err)
+	nvmet_file_io_done(&req->f.iocb, err);

@queue_other@
expression req, fn;
@@
-INIT_WORK(&req->f.work, fn);
-queue_work(nvmet_wq, &req->f.work);
+nvmet_file_queue(req, fn);

// --- the pool's life: as long as the file is open ----------------------------

@create@
expression ns;
identifier ret, err;
@@
+ret = nvmet_file_create_pool(ns);
+if (ret)
+	goto err;
 ns->bvec_pool = mempool_create(...);
 if (!ns->bvec_pool) {
	ret = -ENOMEM;
	goto err;
 }

@create_error@
expression create.ns;
identifier create.err;
@@
 err:
+ants_pool_destroy(ns->pool);
 fput(ns->file);

@destroy@
expression ns;
@@
-if (ns->buffered_io)
-	flush_workqueue(buffered_io_wq);
+ants_pool_destroy(ns->pool);
 mempool_destroy(ns->bvec_pool);
