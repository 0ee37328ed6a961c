/* SPDX-License-Identifier: GPL-2.0-only */
/* An item of a workqueue, for suites that are written for workqueues. */
#ifndef _ANTS_KUNIT_WQ_H
#define _ANTS_KUNIT_WQ_H

/* An item that counts its runs, and may have to pass a gate in each. */
struct shape {
	struct delayed_work dwork;
	struct workqueue_struct *wq;
	struct gate *gate;
	atomic_t runs;
	atomic_t inside;
	bool overlapped;
	int again;
};

static inline void shape_fn(struct work_struct *work)
{
	struct shape *shape = container_of(work, struct shape, dwork.work);

	if (atomic_inc_return(&shape->inside) > 1)
		shape->overlapped = true;
	if (shape->gate)
		gate_task(shape->gate);
	if (shape->again) {
		shape->again--;
		queue_delayed_work(shape->wq, &shape->dwork, shape->again % 2);
	}
	atomic_dec(&shape->inside);
	atomic_inc(&shape->runs);
}

static inline void wq_free(struct kunit_resource *res)
{
	destroy_workqueue(res->data);
}

static inline struct workqueue_struct *wq_own(struct kunit *test,
					      struct workqueue_struct *wq)
{
	KUNIT_ASSERT_NOT_NULL(test, wq);
	kunit_alloc_resource(test, test_pool_init, wq_free, GFP_KERNEL, wq);
	return wq;
}

static inline struct workqueue_struct *wq_make(struct kunit *test)
{
	return wq_own(test, alloc_workqueue("test/%s", WQ_UNBOUND | WQ_MEM_RECLAIM, 8,
					    "wq"));
}

/* The item goes before the workqueue does. */
static inline void shape_end(struct kunit_resource *res)
{
	struct shape *shape = res->data;

	cancel_delayed_work_sync(&shape->dwork);
	kfree(shape);
}

static inline struct shape *shape_make(struct kunit *test, struct workqueue_struct *wq,
				       struct gate *gate)
{
	struct shape *shape = kzalloc(sizeof(*shape), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, shape);
	INIT_DELAYED_WORK(&shape->dwork, shape_fn);
	shape->wq = wq;
	shape->gate = gate;
	kunit_alloc_resource(test, test_pool_init, shape_end, GFP_KERNEL, shape);
	return shape;
}

/* A closed gate that is opened before what waits for the items behind it. */
static inline struct gate *wq_gate(struct kunit *test, struct shape *shape)
{
	shape->gate = test_gate(test);
	return shape->gate;
}

static inline bool shape_queue(struct shape *shape)
{
	return queue_work(shape->wq, &shape->dwork.work);
}

#endif /* _ANTS_KUNIT_WQ_H */
