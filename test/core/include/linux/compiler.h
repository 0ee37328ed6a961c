/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_COMPILER_H
#define _SHIM_COMPILER_H

#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define noinline		__attribute__((__noinline__))
#define __cold			__attribute__((__cold__))
#undef __always_inline
#define __always_inline		inline __attribute__((__always_inline__))
#define __must_check		__attribute__((__warn_unused_result__))
#define __noreturn		__attribute__((__noreturn__))
#define __printf(fmt, args)	__attribute__((__format__(printf, fmt, args)))
#define __uninitialized
#define __percpu
#define __init			__attribute__((__unused__))
#define __exit
#define __acquires(x)
#define __releases(x)
#define __must_hold(x)
#define __acquire(x)		((void)0)
#define __release(x)		((void)0)

#define IS_ENABLED(option)	SHIM_##option
#define SHIM_CONFIG_DEBUG_OBJECTS_WORK	0
#define SHIM_CONFIG_LOCKDEP	0
/* So interrupts are looked at after each task. */
#define SHIM_CONFIG_PROVE_LOCKING	1
#define SHIM_CONFIG_PREEMPTION	1
#define BIT(nr)			(1UL << (nr))
#define BITS_PER_LONG		__LONG_WIDTH__
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))

#define offsetofend(type, member) \
	(offsetof(type, member) + sizeof(((type *)0)->member))
#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

#define min(a, b) ({							\
	typeof(a) _min_a = (a);						\
	typeof(b) _min_b = (b);						\
	_min_a < _min_b ? _min_a : _min_b; })
#define max(a, b) ({							\
	typeof(a) _max_a = (a);						\
	typeof(b) _max_b = (b);						\
	_max_a > _max_b ? _max_a : _max_b; })
#define min3(a, b, c)		min(min(a, b), c)
#define min_t(type, a, b)	min((type)(a), (type)(b))
#define max_t(type, a, b)	max((type)(a), (type)(b))
#define clamp_t(type, v, lo, hi) min_t(type, max_t(type, v, lo), hi)
#define clamp(v, lo, hi)	clamp_t(typeof(v), v, lo, hi)

#define swap(a, b) do {							\
	typeof(a) _swap = (a);						\
	(a) = (b);							\
	(b) = _swap;							\
} while (0)

/*
 * Another thread may run at this point, see explore.c. A soft point counts only
 * if the thread has read something since the last one.
 */
#ifdef SHIM_EXPLORE
void shim_point(void);
void shim_soft_point(void);
extern bool shim_has_read;
/*
 * Values that are read without a lock, and words that are written: see
 * explore_trace.c.
 */
void shim_saw(unsigned long long value);
void shim_wrote(const void *addr);
/* A name that is the same for the same address in each run. */
unsigned long long shim_name(unsigned long long addr);
void shim_allocated(const void *p, size_t size);
void shim_freed(const void *p);
#else
static inline void shim_point(void)
{
}

static inline void shim_soft_point(void)
{
}

static inline void shim_saw(unsigned long long value)
{
}

static inline unsigned long long shim_name(unsigned long long addr)
{
	return addr;
}

static inline void shim_wrote(const void *addr)
{
}

static inline void shim_allocated(const void *p, size_t size)
{
}

static inline void shim_freed(const void *p)
{
}
#endif

/*
 * Like KCSAN by default, ThreadSanitizer takes a plain write of a word for
 * atomic. A marked read may race with one, but what it reads may not be read
 * plainly while WRITE_ONCE() may run.
 */
#ifdef __SANITIZE_THREAD__
#define READ_ONCE(x)		(*(const volatile typeof(x) *)&(x))
#else
#define READ_ONCE(x) ({							\
	__auto_type _value = __atomic_load_n(&(x), __ATOMIC_RELAXED);	\
	shim_saw((unsigned long)_value);				\
	_value; })
#endif
#define WRITE_ONCE(x, val)						\
	(__atomic_store_n(&(x), val, __ATOMIC_RELAXED), shim_wrote(&(x)))
#ifdef __SANITIZE_THREAD__
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);

#define data_race(expr) ({						\
	AnnotateIgnoreReadsBegin(__FILE__, __LINE__);			\
	__auto_type _read = (expr);					\
	AnnotateIgnoreReadsEnd(__FILE__, __LINE__);			\
	_read; })
#else
#define data_race(expr)		(expr)
#endif

#define smp_load_acquire(p) ({						\
	shim_soft_point();						\
	__auto_type _value = __atomic_load_n(p, __ATOMIC_ACQUIRE);	\
	shim_saw((unsigned long)_value);				\
	_value; })
/* A thread that sees the value may be faster than what follows here. */
#define smp_store_release(p, val) do {					\
	__atomic_store_n(p, val, __ATOMIC_RELEASE);			\
	shim_wrote(p);							\
	shim_point();							\
} while (0)

#define cmpxchg(p, from, to) ({						\
	typeof(*(p)) _old = (from);					\
	shim_point();							\
	shim_wrote(p);							\
	__atomic_compare_exchange_n(p, &_old, to, false,		\
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);\
	_old; })
#define xchg(p, val)							\
	(shim_point(), shim_wrote(p),					\
	 __atomic_exchange_n(p, val, __ATOMIC_SEQ_CST))

/* Report the failure and end the program. */
__printf(1, 2) __attribute__((__noreturn__))
void shim_fail(const char *fmt, ...);
__printf(1, 2)
void shim_log(const char *fmt, ...);

#ifndef pr_fmt
#define pr_fmt(fmt) fmt
#endif
#define pr_err(fmt, ...)		shim_log(pr_fmt(fmt), ##__VA_ARGS__)
#define pr_warn(fmt, ...)		shim_log(pr_fmt(fmt), ##__VA_ARGS__)
#define pr_warn_once(fmt, ...)		pr_warn(fmt, ##__VA_ARGS__)
#define pr_warn_ratelimited(fmt, ...)	pr_warn(fmt, ##__VA_ARGS__)

#define WARN(cond, fmt, ...) ({						\
	bool _warn = !!(cond);						\
	if (unlikely(_warn))						\
		shim_fail("%s:%d: " fmt, __FILE__, __LINE__,		\
			  ##__VA_ARGS__);				\
	_warn; })
#define WARN_ONCE(cond, fmt, ...)	WARN(cond, fmt, ##__VA_ARGS__)
#define WARN_ON_ONCE(cond)		WARN(cond, "%s", #cond)
#define WARN_ON(cond)			WARN(cond, "%s", #cond)

#define MAX_ERRNO		4095
#define ERR_PTR(err)		((void *)(long)(err))
#define PTR_ERR(ptr)		((long)(ptr))
#define ERR_CAST(ptr)		((void *)(ptr))
#define IS_ERR(ptr)		((unsigned long)(ptr) >= -(unsigned long)MAX_ERRNO)
#define IS_ERR_OR_NULL(ptr)	(!(ptr) || IS_ERR(ptr))
#define PTR_ERR_OR_ZERO(ptr)	(IS_ERR(ptr) ? (int)PTR_ERR(ptr) : 0)

static inline ssize_t strscpy(char *to, const char *from, size_t size)
{
	size_t len = strlen(from);

	len = len < size ? len : size - 1;

	memcpy(to, from, len);
	to[len] = '\0';
	return len;
}

#endif
