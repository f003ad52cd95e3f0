// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/key_name.h"

#include "qprof/wire.h"
#include "test.h"

#define BODY	  "_RINvNtCs1_16rustc_query_impl9execution17try_execute_query"
#define CACHES	  "INtNtNtCs2_12rustc_middle5query6caches"
#define VALUE(n)  "INtNtNtCs2_12rustc_middle5query5erase10ErasedDataAhj" n "_E"
#define DEF_ID(n) BODY CACHES "10DefIdCache" VALUE(n) "EKb0_EB4_"
#define VEC(key)                                                              \
	BODY "INtNtCs3_21rustc_data_structures9vec_cache8VecCache" key VALUE( \
		"4") "NtNtNtCs2_12rustc_middle9dep_graph5graph12DepNodeIndexEKb1_EB4_"
#define TASK                                                                                    \
	"_RINvCs3MG2ofusW15_21rustc_data_structures7outlineNCINvMs3_NtNtCsdadwybgsbvk_12rustc_" \
	"middle9dep_graph5graphNtBU_12DepGraphData52assert_dep_node_not_yet_allocated_in_"      \
	"current_sessionNtNtCslNYArtu3iFV_5alloc6string6StringNCINvMs1_BU_B1G_9with_task"
#define HASHED(key) BODY CACHES "12DefaultCache" key VALUE("20") "EKb0_EB4_"

static void assert_name(const char *symbol, enum wire_key key, uint32_t size)
{
	struct key_name name = key_name__parse(symbol);

	assert_int_equal(name.key, key);
	assert_true(name.has_size);
	assert_int_equal(name.size, size);
}

static void assert_unknown(const char *symbol)
{
	assert_int_equal(key_name__parse(symbol).key, WIRE_KEY_UNKNOWN);
}

static void the_cache_has_the_type(void **state)
{
	assert_name(DEF_ID("8"), WIRE_KEY_DEF, 8);
	assert_name(DEF_ID("1c"), WIRE_KEY_DEF, 28);
	assert_name(DEF_ID("0"), WIRE_KEY_DEF, 0);
	assert_name(BODY CACHES "11SingleCache" VALUE("10") "EKb0_EB4_", WIRE_KEY_UNIT, 16);
	assert_name(VEC("NtNtCs5_10rustc_span6def_id10LocalDefId"), WIRE_KEY_LOCAL, 4);
	assert_name(VEC("NtCs5_12rustc_hir_id7OwnerId"), WIRE_KEY_LOCAL, 4);
	assert_name(VEC("NtNtCs5_10rustc_span6def_id8CrateNum"), WIRE_KEY_CRATE, 4);
	assert_name(HASHED("NtNtCs5_10rustc_span6def_id13LocalModDefId"), WIRE_KEY_LOCAL, 32);
	assert_name(HASHED("NtNtCs5_10rustc_span6def_id5DefId"), WIRE_KEY_DEF, 32);
	assert_name(HASHED("NtNtNtCs2_12rustc_middle2ty8instance8Instance"), WIRE_KEY_UNKNOWN, 32);
	assert_name(HASHED("TNtNtCs5_10rustc_span6def_id5DefIdRINtCs2_12rustc_middle4ListuEE"),
		    WIRE_KEY_UNKNOWN, 32);
}

static void assert_type(const char *symbol, const char *type)
{
	assert_string_equal(key_name__parse(symbol).type, type);
}

static void types_have_no_modules(void **state)
{
	assert_type(DEF_ID("8"), "DefId");
	assert_type(BODY CACHES "11SingleCache" VALUE("10") "EKb0_EB4_", "()");
	assert_type(VEC("NtNtCs5_10rustc_span6def_id10LocalDefId"), "LocalDefId");
	assert_type(HASHED("NtNtCs2_12rustc_middle2ty2Ty"), "Ty");
	assert_type(HASHED("TNtNtCs5_10rustc_span6def_id5DefIdRINtNtCs2_12rustc_middle2ty7RawListu"
			   "NtNtCs2_12rustc_middle2ty2TyEE"),
		    "(DefId, &RawList<(), Ty>)");
	assert_type("main", "");
	assert_type(BODY CACHES "9LostCache" VALUE("8") "EKb0_EB4_", "");
}

static void a_long_type_is_unknown(void **state)
{
	char symbol[1024] = BODY CACHES "12DefaultCacheT", *end = symbol + strlen(symbol);

	for (int i = 0; i < KEY_TYPE_MAX / 4; i++)
		end = stpcpy(end, "NtC1a2Ty");
	strcpy(end, "E" VALUE("20") "EKb0_EB4_");
	assert_type(symbol, "");
}

#define KEYS "NtNtCs1_12rustc_middle5query4keys"

static void functions_of_keys(void **state)
{
	char type[KEY_TYPE_MAX] = "";

	assert_true(key_name__of_span("_RNvXs8_" KEYS "NtNtCs2_10rustc_span6def_id5DefId"
				      "NtB5_8QueryKey12default_span",
				      type));
	assert_string_equal(type, "DefId");
	assert_true(key_name__of_span(
		"_RNvXs8_" KEYS
		"TNtNtCs2_10rustc_span6def_id5DefIdNtNtCs2_10rustc_span6def_id5DefIdE"
		"NtB5_3Key12default_span.llvm.7",
		type));
	assert_string_equal(type, "(DefId, DefId)");
	assert_true(key_name__of_debug("_RNvXs2w_NtCs1_12rustc_middle2tyINtB6_"
				       "20PseudoCanonicalInputNtNtNtB8_3mir9interpret8GlobalId"
				       "ENtNtCs3_4core3fmt5Debug3fmtB8_",
				       type));
	assert_string_equal(type, "PseudoCanonicalInput<GlobalId>");
	assert_false(key_name__of_span("_RNvXs8_" KEYS "NtNtCs2_10rustc_span6def_id5DefId"
				       "NtB5_6Monkey12default_span",
				       type));
	assert_false(key_name__of_span("_RNvNtCs1_3Key12default_span", type));
	assert_false(key_name__of_debug("_RNvXs2w_NtCs1_12rustc_middle2tyNtB6_2Ty"
					"NtNtCs3_4core3fmt5Debug3fmt",
					type));
	assert_string_equal(type, "PseudoCanonicalInput<GlobalId>");
}

/* As rustc 1.95 and 1.97 have them. */
static void back_references_are_followed(void **state)
{
	assert_name("_RINvNtCsfhTr2ijyTAe_16rustc_query_impl9execution17try_execute_query"
		    "INtNtNtCsdadwybgsbvk_12rustc_middle5query6caches12DefaultCache"
		    "NtNtNtB1a_2ty8instance8InstanceINtNtB18_5erase10ErasedDataAhj10_EEKb0_EB4_",
		    WIRE_KEY_UNKNOWN, 16);
	assert_name("_RINvNtCsfhTr2ijyTAe_16rustc_query_impl9execution17try_execute_query"
		    "INtNtCs3MG2ofusW15_21rustc_data_structures9vec_cache8VecCache"
		    "NtNtCsjyvvofjlheH_10rustc_span6def_id10LocalDefId"
		    "INtNtNtCsdadwybgsbvk_12rustc_middle5query5erase10ErasedDataAhj8_E"
		    "NtNtNtB2W_9dep_graph5graph12DepNodeIndexEKb1_EB4_.llvm.15520300481698896969",
		    WIRE_KEY_LOCAL, 8);
}

/* Where the symbol table is gone, 1.95 still exports this. */
static void a_task_that_executes_a_query_holds_the_cache(void **state)
{
	assert_name(TASK "TRINtNtNtBY_5query8plumbing11QueryVTableINtNtB40_6caches10DefIdCache"
			 "INtNtB40_5erase10ErasedDataAhj8_EEENtNtCsjyvvofjlheH_10rustc_span6def_id"
			 "5DefIdEB4Z_E0E0uECsfhTr2ijyTAe_16rustc_query_impl",
		    WIRE_KEY_DEF, 8);
	assert_type(TASK "RNtNtCsjrHSEGnQ3l9_3std4path4PathuE0E0uECs5FxD4tM6viY_14rustc_metadata",
		    "");
}

#define GUARD(key)                                                            \
	"_RNvXs_NtCs1_16rustc_query_impl9executionINtB4_14ActiveJobGuard" key \
	"ENtNtNtCs3_4core3ops4drop4Drop4dropB6_"

static void assert_guard(const char *symbol, enum wire_key key, const char *type)
{
	struct key_name name = key_name__parse(symbol);

	assert_int_equal(name.key, key);
	assert_string_equal(name.type, type);
	assert_false(name.has_size);
}

static void a_guard_holds_the_key(void **state)
{
	assert_guard(GUARD("NtNtCs2_10rustc_span6def_id5DefId"), WIRE_KEY_DEF, "DefId");
	assert_guard(GUARD("NtCs2_12rustc_hir_id7OwnerId"), WIRE_KEY_LOCAL, "OwnerId");
	assert_guard(GUARD("u"), WIRE_KEY_UNIT, "()");
	assert_guard(GUARD("TNtNtCs2_10rustc_span6def_id5DefIdjE"), WIRE_KEY_UNKNOWN,
		     "(DefId, usize)");
	assert_guard("_RNvXs2_NtNtCs1_18rustc_query_system5query8plumbingINtB5_8JobOwnerNtNtCs2_"
		     "10rustc_span6def_id8CrateNumENtNtNtCs3_4core3ops4drop4Drop4drop"
		     "Cs4_16rustc_query_impl",
		     WIRE_KEY_CRATE, "CrateNum");
	assert_guard("_RNvXs_NtCs1_16rustc_query_impl9executionINtB4_8OtherJobuENtNtNtCs3_4core3"
		     "ops4drop4Drop4dropB6_",
		     WIRE_KEY_UNKNOWN, "");
	assert_guard("_RNvXs_NtCs1_16rustc_query_impl9executionINtB4_14ActiveJobGuarduENtNtNtCs3_"
		     "4core3ops4drop4Drip4dropB6_",
		     WIRE_KEY_UNKNOWN, "");
}

#define TABLE(row) "_RINvMs6_NtCs1_9hashbrown3rawINtB6_8RawTable" row "E14reserve_rehashuECs3_4main"
#define RESULT                                                                \
	"TINtNtNtCs2_12rustc_middle5query5erase10ErasedDataAhj1c_ENtNtNtCs2_" \
	"12rustc_middle9dep_graph5graph12DepNodeIndexE"

static void a_table_holds_the_key_and_the_size(void **state)
{
	assert_name(TABLE("TNtNtCs2_10rustc_span6def_id5DefId" RESULT "E"), WIRE_KEY_DEF, 28);
	assert_type(TABLE("TNtNtCs2_10rustc_span6def_id5DefId" RESULT "E"), "DefId");
	assert_name(TABLE("TTNtNtCs2_10rustc_span6def_id5DefIdjE" RESULT "E"), WIRE_KEY_UNKNOWN,
		    28);
	assert_type(TABLE("TTNtNtCs2_10rustc_span6def_id5DefIdjE" RESULT "E"), "(DefId, usize)");
	assert_type(TABLE("NtNtCs2_10rustc_span6def_id5DefId"), "");
	assert_type(TABLE("TNtNtCs2_10rustc_span6def_id5DefIdjE"), "");
}

#define TAGGED "_RNvMNtCs1_12rustc_middle7queriesNtB2_14TaggedQueryKey"

static void functions_of_the_enum_of_queries(void **state)
{
	assert_true(key_name__of_tagged(TAGGED "10query_name", "query_name"));
	assert_true(key_name__of_tagged(TAGGED "12default_span.llvm.7", "default_span"));
	assert_false(key_name__of_tagged(TAGGED "18catch_default_span", "default_span"));
	assert_false(key_name__of_tagged("_RNvMNtCs1_12rustc_middle7queriesNtB2_8QueryKey"
					 "10query_name",
					 "query_name"));
	assert_false(key_name__of_tagged("14TaggedQueryKey10query_name", "query_name"));
}

/* Before, the cache was an argument of a configuration. */
static void a_configuration_holds_the_cache(void **state)
{
	assert_name("_RINvNtNtCs1_18rustc_query_system5query8plumbing17try_execute_query"
		    "INtCs2_16rustc_query_impl13DynamicConfig"
		    "INtNtNtCs1_18rustc_query_system5query6caches10DefIdCache"
		    "INtNtNtCs3_12rustc_middle5query5erase6ErasedAhj18_EEKb0_Kb0_Kb0_E"
		    "NtNtCs2_16rustc_query_impl8plumbing9QueryCtxtKb0_ECs2_16rustc_query_impl",
		    WIRE_KEY_DEF, 24);
}

static void other_types_are_unknown(void **state)
{
	assert_unknown(HASHED("NtNtCs2_12rustc_middle2ty2Ty"));
	assert_unknown(
		HASHED("TNtNtCs5_10rustc_span6def_id5DefIdNtNtCs5_10rustc_span6def_id5DefIdE"));
	assert_unknown(HASHED("INtNtCs5_10rustc_span6def_id5DefIduE"));
	assert_unknown(HASHED("RNtNtCs5_10rustc_span6def_id5DefId"));
	assert_unknown(HASHED("FEu"));
	/* Of another program. */
	assert_unknown(HASHED("NtNtCs5_4mine6def_id5DefId"));
	assert_unknown(HASHED("NtNtCs5_10rustc_span6def_id8UnDefId"));
	assert_unknown(BODY CACHES "9LostCache" VALUE("8") "EKb0_EB4_");
	assert_unknown(BODY "NtNtCs5_10rustc_span6def_id5DefIdKb0_EB4_");
}

static void a_value_of_another_type_has_no_size(void **state)
{
	struct key_name name = key_name__parse(BODY CACHES "10DefIdCacheAhj8_EKb0_EB4_");

	assert_int_equal(name.key, WIRE_KEY_DEF);
	assert_false(name.has_size);
}

static void what_is_no_body_is_unknown(void **state)
{
	assert_unknown("");
	assert_unknown("_R");
	assert_unknown("main");
	assert_unknown("_ZN16rustc_query_impl9execution17try_execute_query17h0123456789abcdefE");
	assert_unknown("_RNvNtCs1_16rustc_query_impl9execution17try_execute_query");
	assert_unknown(BODY "EB4_");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_cache_has_the_type),
		cmocka_unit_test(types_have_no_modules),
		cmocka_unit_test(a_long_type_is_unknown),
		cmocka_unit_test(functions_of_keys),
		cmocka_unit_test(back_references_are_followed),
		cmocka_unit_test(a_task_that_executes_a_query_holds_the_cache),
		cmocka_unit_test(a_guard_holds_the_key),
		cmocka_unit_test(a_table_holds_the_key_and_the_size),
		cmocka_unit_test(functions_of_the_enum_of_queries),
		cmocka_unit_test(a_configuration_holds_the_cache),
		cmocka_unit_test(other_types_are_unknown),
		cmocka_unit_test(a_value_of_another_type_has_no_size),
		cmocka_unit_test(what_is_no_body_is_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
