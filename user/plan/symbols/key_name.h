/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The type of a query's key, and the size of its value, from the name of a body: v0 names hold the
 * type of the cache, of which each body is an instance.
 *
 *	try_execute_query::<..::DefIdCache<..::ErasedData<[u8; 8]>>, false>
 *	try_execute_query::<..::VecCache<..::LocalDefId, ..::ErasedData<[u8; 4]>, ..>, true>
 *
 * In older compilers the cache is the first argument of a DynamicConfig. In newer ones it is in the
 * type of the task by which an incremental body executes a query:
 *
 *	outline::<..::with_task<(&..::QueryVTable<..::DefIdCache<..>>, ..::DefId), ..>::{closure#0}>
 *
 * The guard that a body holds while its query runs has the type of the key only:
 *
 *	<rustc_query_impl::execution::ActiveJobGuard<..::DefId> as core::ops::drop::Drop>::drop
 *
 * A cache that is a hash table calls a function of its table, which has the size of values, too:
 *
 *	<hashbrown::raw::RawTable<(..::DefId, (..::ErasedData<[u8; 8]>, ..))>>::reserve_rehash::<..>
 */
#ifndef QPROF_PLAN_SYMBOLS_KEY_NAME_H
#define QPROF_PLAN_SYMBOLS_KEY_NAME_H

#include <stdbool.h>
#include <stdint.h>

#define KEY_TYPE_MAX 160

struct key_name {
	uint8_t key; /* enum wire_key */
	/* The type, its paths without crates and modules; "" if it is unknown, or longer. */
	char type[KEY_TYPE_MAX];
	bool has_size; /* `size` is known */
	uint32_t size; /* of the query's value, bytes */
};

/*
 * `symbol` is a mangled body (NAME_BODY_...), NAME_KEY_WITNESS, _GUARD or _TABLE, maybe with
 * suffixes. Of any other, in the legacy mangling, or of a type that is not known here, the key is
 * WIRE_KEY_UNKNOWN.
 */
struct key_name key_name__parse(const char *symbol);

/*
 * The type for which a trait's function is implemented, if `symbol` is one: as above, in `type`,
 * and true.
 *
 *	<..::GlobalId as ..::QueryKey>::default_span	before: Key
 *	<..::PseudoCanonicalInput<..::GlobalId> as core::fmt::Debug>::fmt
 */
bool key_name__of_span(const char *symbol, char type[KEY_TYPE_MAX]);
bool key_name__of_debug(const char *symbol, char type[KEY_TYPE_MAX]);

/*
 * `symbol` is this function of the enum of all queries with their keys, rustc 1.96's:
 *
 *	<rustc_middle::queries::TaggedQueryKey>::query_name
 */
bool key_name__of_tagged(const char *symbol, const char *function);

#endif /* QPROF_PLAN_SYMBOLS_KEY_NAME_H */
