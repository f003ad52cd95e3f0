// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Symbols marked 1.95 and 1.97 are copied from the librustc_driver of stable 1.95.0 and of a
 * 1.97 nightly. The older ones are spelled from rustc's sources and from backtraces in its issues.
 */
#include "plan/symbols/names.h"

#include "test.h"

struct expectation {
	enum name_kind kind;
	enum name_part part;
	const char *query, *symbol;
};

#define IS(kind)	  NAME_##kind, NAME_PART_ENTRY, NULL
#define COLD_OF(kind)	  NAME_##kind, NAME_PART_COLD, NULL
#define WARM_OF(kind)	  NAME_##kind, NAME_PART_WARM, NULL
#define OF(kind, q, part) NAME_##kind, NAME_PART_##part, q

/* 1.95 */
#define IMPL	 "_RNvNtNtNtCsfhTr2ijyTAe_16rustc_query_impl10query_impl"
#define NON_INCR "22execute_query_non_incr26___rust_end_short_backtrace"
#define INCR	 "18execute_query_incr26___rust_end_short_backtrace"
#define PROVIDER "18invoke_provider_fn28___rust_begin_short_backtrace"
#define BODY	 "_RINvNtCsfhTr2ijyTAe_16rustc_query_impl9execution17try_execute_query"
#define DEF_ID_CACHE                                                                               \
	"INtNtNtCsdadwybgsbvk_12rustc_middle5query6caches10DefIdCacheINtNtB18_5erase10ErasedDataA" \
	"hj8_EE"
#define VEC_CACHE                                                                                 \
	"INtNtCs3MG2ofusW15_21rustc_data_structures9vec_cache8VecCacheNtNtCsjyvvofjlheH_10rustc_" \
	"span6def_id10LocalDefIdINtNtNtCsdadwybgsbvk_12rustc_middle5query5erase10ErasedDataAhj8_" \
	"ENtNtNtB2W_9dep_graph5graph12DepNodeIndexE"
#define LLVM ".llvm.15520300481698896969"
#define COLD                                                                                    \
	"_RINvNvMNtCs3MG2ofusW15_21rustc_data_structures9profilingNtB5_15SelfProfilerRef4exec9" \
	"cold_call"

#define STORE                                                                            \
	"_RNvXsc_NtNtNtCs5FxD4tM6viY_14rustc_metadata5rmeta7decoder11cstore_implNtNtBb_" \
	"7creader6CStoreNtNtCs3TffaVLKYX7_13rustc_session6cstore"

#define PROFILING "Cs3MG2ofusW15_21rustc_data_structures9profiling"
#define DROP	  "_RINvNtCsgEmfK2I1SDS_4core3ptr13drop_in_place"

static const struct expectation today[] = {
	{IS(KEY_WITNESS),
	 "_RINvCs3MG2ofusW15_21rustc_data_structures7outlineNCINvMs3_NtNtCsdadwybgsbvk_12rustc_"
	 "middle9dep_graph5graphNtBU_12DepGraphData52assert_dep_node_not_yet_allocated_in_current_"
	 "sessionNtNtCslNYArtu3iFV_5alloc6string6StringNCINvMs1_BU_B1G_9with_"
	 "taskRNtNtCsjrHSEGnQ3l9_3std4path4PathuE0E0uECs5FxD4tM6viY_14rustc_metadata"},
	{IS(KEY_TABLE),
	 "_RINvMs6_NtCsisHHR57e8H2_9hashbrown3rawINtB6_8RawTableTINtNtCs8NwYtU1Mohg_"
	 "4core6option6OptionNtNtCs6IqgnrtlzSn_10rustc_span6symbol6SymbolETINtNtNtCsjxQzBqb8aDj_"
	 "12rustc_middle5query5erase10ErasedDataAhj0_ENtNtNtB2j_9dep_"
	 "graph5graph12DepNodeIndexEEE14reserve_rehashNCNvMs1_NtCs4k3LPBBIJ3O_21rustc_data_"
	 "structures7shardedINtB4k_7ShardedINtNtB8_5table9HashTableBP_EE13insert_"
	 "unique0ECsSR1oCmx5b7_16rustc_query_impl"},
	{IS(OTHER),
	 "_RINvMs6_NtCsfzxCEe6FjLs_9hashbrown3rawINtB6_8RawTableTNtNtNtCsjxQzBqb8aDj_12rustc_"
	 "middle9dep_graph8dep_node7DepNodeNtNtCs6IqgnrtlzSn_10rustc_span6def_"
	 "id8CrateNumEE14reserve_rehashNCINvNtB8_3map11make_hasherBQ_B1P_NtCsfRZ3y7WvlIw_10rustc_"
	 "hash13FxBuildHasherE0ECsSR1oCmx5b7_16rustc_query_impl"},
	{IS(KEY_GUARD), "_RNvXs_NtCsfhTr2ijyTAe_16rustc_query_impl9executionINtB4_"
			"14ActiveJobGuardNtNtCsjyvvofjlheH_10rustc_span6def_"
			"id5DefIdENtNtNtCsgEmfK2I1SDS_4core3ops4drop4Drop4dropB6_"},
	{COLD_OF(KEY_GUARD), "_RNvXs2_NtNtCslEyPziE0PFW_18rustc_query_system5query8plumbingINtB5_"
			     "8JobOwnerNtNtCs7UXU3LnihvY_10rustc_span6def_"
			     "id5DefIdENtNtNtCsb39jSXMgSx0_4core3ops4drop4Drop4drop.cold"},
	{IS(OTHER), "_RNvXs_NtCsfhTr2ijyTAe_16rustc_query_impl9executionINtB4_"
		    "14ActiveJobGuardNtNtCsjyvvofjlheH_10rustc_span6def_id5DefIdENtNtCsgEmfK2I1SDS_"
		    "4core3fmt5Debug3fmtB6_"},
	{COLD_OF(DROP_CONTEXT),
	 DROP "INtNtNtCsjrHSEGnQ3l9_3std4sync9once_lock8OnceLockNtNtNtCsdadwybgsbvk_12rustc_"
	      "middle2ty7context10GlobalCtxtEECsjDQNFu7nQ4C_17rustc_driver_impl.cold"},
	{IS(DEF_PATH_TABLE),
	 "_RNvMsn_NtNtCsdadwybgsbvk_12rustc_middle2ty7contextNtB5_6TyCtxt14def_path_table"},
	{IS(ENUMERATED_KEYS), "_RNvMNtCsfqPBR87PSkx_9rustc_hir11definitionsNtB2_"
			      "12DefPathTable31enumerated_keys_and_path_hashes"},
	{IS(DEF_PATH),
	 "_RNvMs3_NtCsfqPBR87PSkx_9rustc_hir11definitionsNtB5_11Definitions8def_path"},
	{COLD_OF(DEF_PATH_DATA),
	 "_RNvMs4_NtCsfqPBR87PSkx_9rustc_hir11definitionsNtB5_11DefPathData4name.cold"},
	{IS(DEF_PATH_SYMBOL),
	 "_RNvMs1_NtCsfqPBR87PSkx_9rustc_hir11definitionsNtB5_24DisambiguatedDefPathData6as_sym"},
	{IS(DEF_PATH_DISPLAY), "_RNvXs5_NtCsfqPBR87PSkx_9rustc_hir11definitionsNtB5_"
			       "11DefPathDataNtNtCsgEmfK2I1SDS_4core3fmt7Display3fmt"},
	{IS(NUMBERED_DISPLAY), "_RNvXs1_NtCsblTMlPYGUzr_9rustc_hir11definitionsNtB5_"
			       "24DisambiguatedDefPathDataNtNtCsb39jSXMgSx0_4core3fmt7Display3fmt"},
	{IS(CONTEXT_DEF_PATH),
	 "_RNvMsl_NtNtCs7UXU3LnihvY_12rustc_middle2ty7contextNtB5_6TyCtxt8def_path"},
	{IS(OTHER), "_RNvXs5_NtCsfqPBR87PSkx_9rustc_hir11definitionsNtB5_"
		    "11DefPathDataNtNtCsgEmfK2I1SDS_4core3fmt5Debug3fmt"},
	{IS(HASH_TO_DEF), "_RNvMsl_NtNtCsdadwybgsbvk_12rustc_middle2ty7contextNtB5_6TyCtxt23def_"
			  "path_hash_to_def_id"},
	{IS(SYMBOL_TEXT), "_RNvMs8_NtCsjyvvofjlheH_10rustc_span6symbolNtB5_6Symbol6as_str"},
	{IS(SOURCE_MAP), "_RNvNtCsjyvvofjlheH_10rustc_span10source_map14get_source_map"},
	{COLD_OF(FILE_INDEX), "_RNvMs_NtCsjyvvofjlheH_10rustc_span10source_mapNtB4_"
			      "9SourceMap22lookup_source_file_idx.cold"},
	{IS(FILE_BY_NAME),
	 "_RNvMs_NtCsjyvvofjlheH_10rustc_span10source_mapNtB4_9SourceMap15get_source_file"},
	{IS(LOCAL_PATH), "_RNvMs6_CsjyvvofjlheH_10rustc_spanNtB5_8FileName15into_local_path"},
	{IS(FILE_LINES), "_RNvMsL_CsjyvvofjlheH_10rustc_spanNtB5_10SourceFile5lines"},
	{IS(OTHER), "_RNvMsL_NtCsjyvvofjlheH_10rustc_span4testNtB5_10SourceFile5lines"},
	{IS(LINE_BOUNDS), "_RNvMsL_CsjyvvofjlheH_10rustc_spanNtB5_10SourceFile11line_bounds"},
	{WARM_OF(SPAN_DATA),
	 "_RNvMs2_NtCsjyvvofjlheH_10rustc_span13span_encodingNtB5_4Span14data_untracked.warm"},
	{IS(DEF_PATH_HASH), "_RNvMsl_NtNtCsdadwybgsbvk_12rustc_middle2ty7contextNtB5_6TyCtxt13def_"
			    "path_hash.llvm.4311"},
	{COLD_OF(STORE),
	 "_RNvMs2_NtCs5FxD4tM6viY_14rustc_metadata7creaderNtB5_6CStore8from_tcx.cold"},
	{IS(STORE_CRATE),
	 "_RNvMs2_NtCs5FxD4tM6viY_14rustc_metadata7creaderNtB5_6CStore14get_crate_data"},
	{IS(STORE_CRATE_NAME), STORE "10CrateStore10crate_name"},
	{IS(STORE_STABLE_ID), STORE "10CrateStore15stable_crate_id"},
	{WARM_OF(STORE_DEF_KEY), STORE "10CrateStore7def_key.warm"},
	{IS(OTHER), STORE "10CrateStore8def_path"},
	{IS(OTHER), STORE "10OtherStore7def_key"},
	{IS(DEP_KIND_DEBUG), "_RNvNtCs6aTkfuqdaw1_15rustc_interface9callbacks14dep_kind_debug"},
	{IS(DEP_NODE_DEBUG), "_RNvNtCs6aTkfuqdaw1_15rustc_interface9callbacks14dep_node_debug"},
	{IS(SOURCE_SPAN), "_RNvNtC15rustc_interface6passes11source_span"},
	{IS(OTHER), "_RNvNtC15rustc_interface6passes8analysis"},
	{IS(DEF_ID_DEBUG), "_RNvNtCshb4CxotJIr4_15rustc_interface9callbacks12def_id_debug"},
	{COLD_OF(TRACK_PARENT),
	 "_RNvNtCshb4CxotJIr4_15rustc_interface9callbacks17track_span_parent.cold"},
	{IS(OTHER), "_RNvNtCshb4CxotJIr4_15rustc_interface9callbacks5other"},
	{IS(COLD_HIT), "_RNvNvMNtCs3MG2ofusW15_21rustc_data_structures9profilingNtB4_"
		       "15SelfProfilerRef15query_cache_hit9cold_call"},
	{OF(WRAPPER_NON_INCR, "typeck", ENTRY), IMPL "6typeck" NON_INCR},
	{OF(WRAPPER_NON_INCR, "typeck", COLD), IMPL "6typeck" NON_INCR ".cold"},
	{OF(WRAPPER_INCR, "layout_of", ENTRY), IMPL "9layout_of" INCR},
	{OF(WRAPPER_INCR, "layout_of", WARM), IMPL "9layout_of" INCR ".warm"},
	{OF(WRAPPER_INCR, "type_of", ENTRY), IMPL "7type_of" INCR LLVM},
	{OF(WRAPPER_INCR, "type_of", COLD), IMPL "7type_of" INCR LLVM ".cold"},
	{OF(WRAPPER_INCR, "type_of", WARM), IMPL "7type_of" INCR LLVM ".warm"},
	{OF(PROVIDER, "fn_sig", ENTRY), IMPL "6fn_sig" PROVIDER},
	{OF(PROVIDER, "fn_sig", COLD), IMPL "6fn_sig" PROVIDER ".cold"},
	{OF(PROVIDER, "def_kind", WARM), IMPL "8def_kind" PROVIDER ".warm"},
	{OF(PROVIDER, "def_kind", COLD), IMPL "8def_kind" PROVIDER ".cold.1"},
	{IS(BODY_NON_INCR), BODY DEF_ID_CACHE "Kb0_EB4_"},
	{IS(BODY_INCR), BODY DEF_ID_CACHE "Kb1_EB4_"},
	{COLD_OF(BODY_NON_INCR), BODY DEF_ID_CACHE "Kb0_EB4_.cold"},
	{WARM_OF(BODY_INCR), BODY DEF_ID_CACHE "Kb1_EB4_.warm"},
	{IS(BODY_INCR), BODY VEC_CACHE "Kb1_EB4_" LLVM},
	{WARM_OF(BODY_INCR), BODY VEC_CACHE "Kb1_EB4_" LLVM ".warm"},
	{IS(COLD_PROVIDER), COLD "NCNvB4_14query_provider0ECsfhTr2ijyTAe_16rustc_query_impl"},
	{IS(COLD_ACTIVITY), COLD "NCNvB4_16generic_activity0EB7_"},
	{IS(COLD_ACTIVITY),
	 COLD "NCINvB4_25generic_activity_with_argReE0ECsfhTr2ijyTAe_16rustc_query_impl"},
	{IS(COLD_ACTIVITY), COLD "NCINvB4_34generic_activity_with_arg_recorderNCNvNtCsecl2Pfoe0A2_"
				 "12rustc_expand10proc_macro19expand_derive_macro0E0EB2h_"},
	{IS(COLD_BLOCKED), COLD "NCNvB4_13query_blocked0ECsSR1oCmx5b7_16rustc_query_impl"},
	{COLD_OF(COLD_LOAD),
	 COLD "NCNvB4_18incr_cache_loading0ECsSR1oCmx5b7_16rustc_query_impl.cold"},
	{IS(COLD_HASHING), COLD "NCNvB4_19incr_result_hashing0ECsdadwybgsbvk_12rustc_middle"},
	{IS(COLD_ARTIFACT), COLD "NCINvB4_13artifact_sizeReE0ECsdadwybgsbvk_12rustc_middle"},
	{IS(DROP_GUARD), DROP "NtNt" PROFILING "11TimingGuardECs9gE3dmllNPh_12rustc_passes"},
	{COLD_OF(DROP_GUARD),
	 DROP "NtNt" PROFILING "11TimingGuardECs9gE3dmllNPh_12rustc_passes.cold"},
	{IS(DROP_GUARD), DROP "INtNtB4_6option6OptionNtNt" PROFILING "11TimingGuardEEB7_"},
	{IS(DROP_TIMER),
	 DROP "NtNt" PROFILING "18VerboseTimingGuardECs5FxD4tM6viY_14rustc_metadata"},
	{IS(TIMER), "_RNvMNt" PROFILING "NtB2_15SelfProfilerRef24verbose_generic_activity"},
	{IS(PANIC_CLEANUP), "_RNvCsfLfy6EI15iL_7___rustc20___rust_panic_cleanup"},
	{COLD_OF(PANIC_CLEANUP), "_RNvCsfLfy6EI15iL_7___rustc20___rust_panic_cleanup.cold"},
	/* 1.97 */
	{OF(WRAPPER_INCR, "opaque_captured_lifetimes", COLD),
	 "_RNvNtNtNtCsSR1oCmx5b7_16rustc_query_impl10query_impl25opaque_captured_"
	 "lifetimes18execute_query_incr26___rust_end_short_backtrace.cold"},
	{OF(PROVIDER, "visible_parent_map", ENTRY),
	 "_RNvNtNtNtCsSR1oCmx5b7_16rustc_query_impl10query_impl18visible_parent_map18invoke_"
	 "provider_fn28___rust_begin_short_backtrace"},
	{IS(BODY_INCR),
	 "_RINvNtCsSR1oCmx5b7_16rustc_query_impl9execution17try_execute_queryINtNtNtCsjxQzBqb8aDj_"
	 "12rustc_middle5query6caches12DefaultCacheINtNtCsaNLjxPusdsh_13rustc_type_"
	 "ir9canonical19CanonicalQueryInputNtNtNtB19_2ty7context6TyCtxtINtB39_"
	 "11ParamEnvAndINtNtNtNtB19_6traits5query7type_op9NormalizeINtNtB27_6binder6BinderB35_"
	 "INtNtB27_7ty_kind5FnSigB35_EEEEEINtNtB17_5erase10ErasedDataAhj8_EEKb1_EB4_"},
	{IS(DROP_CONTEXT), "_RINvNtCs8NwYtU1Mohg_4core3ptr9drop_glueINtNtNtCsi4IsKQVxMg0_"
			   "3std4sync9once_lock8OnceLockNtNtNtCsjxQzBqb8aDj_12rustc_"
			   "middle2ty7context10GlobalCtxtEECsgXjAGLNZMQ8_17rustc_driver_impl"},
	{IS(DEF_PATH_TABLE),
	 "_RNvMsj_NtNtCsjxQzBqb8aDj_12rustc_middle2ty7contextNtB5_6TyCtxt14def_path_table"},
	{IS(DROP_GUARD),
	 "_RINvNtCs8NwYtU1Mohg_4core3ptr9drop_glueNtNt" PROFILING "11TimingGuardEB7_"},
	{IS(PANIC_CLEANUP), "_RNvCseulmdZsCeCG_7___rustc20___rust_panic_cleanup"},
};

#define OLD_IMPL "_RNvNtNtNtCsfX2yiPjkPOB_16rustc_query_impl10query_impl"
#define OLD_PLUMBING \
	"_RINvNtCsfX2yiPjkPOB_16rustc_query_impl8plumbing28___rust_begin_short_backtrace"
#define OLD_RESULT "INtNtNtCsiAsRWbNmiKm_12rustc_middle5query5erase6ErasedAhj8_EEB4_"
#define OLD_BODY                                                                               \
	"_RINvNtNtCsb6xGNRIH7uC_18rustc_query_system5query8plumbing17try_execute_query"        \
	"INtCsfX2yiPjkPOB_16rustc_query_impl13DynamicConfigINtNtNtB6_5query6caches8VecCache"   \
	"NtNtCshb0xKxgYOhP_10rustc_span6def_id10LocalDefIdINtNtNtCsiAsRWbNmiKm_12rustc_middle" \
	"5query5erase6ErasedAhj8_EE"
#define OLD_CTXT "ENtNtB1f_8plumbing9QueryCtxt"

static const struct expectation older[] = {
	{OF(WRAPPER_NON_INCR, "typeck", ENTRY),
	 OLD_IMPL "6typeck18get_query_non_incr26___rust_end_short_backtrace"},
	{OF(WRAPPER_INCR, "typeck", ENTRY),
	 OLD_IMPL "6typeck14get_query_incr26___rust_end_short_backtrace"},
	/* dynamic_query::{closure#2}::{closure#0} */
	{OF(PROVIDER, "typeck", ENTRY),
	 OLD_PLUMBING "NCNCNvNtNtB4_10query_impl6typeck13dynamic_querys0_00" OLD_RESULT},
	{OF(PROVIDER, "typeck", COLD),
	 OLD_PLUMBING "NCNCNvNtNtB4_10query_impl6typeck13dynamic_querys0_00" OLD_RESULT ".cold"},
	/* Only the last of the four bools counts; all but the first may be back references. */
	{IS(BODY_NON_INCR), OLD_BODY "Kb0_Kb0_Kb0_" OLD_CTXT "Kb0_EB1f_"},
	{IS(BODY_INCR), OLD_BODY "Kb0_Kb0_Kb0_" OLD_CTXT "Kb1_EB1f_"},
	{IS(BODY_NON_INCR), OLD_BODY "Kb0_KB4j_KB4j_" OLD_CTXT "KB4j_EB1f_"},
	{IS(BODY_INCR), OLD_BODY "Kb1_KB4j_KB4j_" OLD_CTXT "KB4j_EB1f_"},
	{COLD_OF(BODY_INCR),
	 OLD_BODY "Kb0_KB4j_KB4j_" OLD_CTXT "Kb1_ECsfX2yiPjkPOB_16rustc_query_impl.llvm.1.cold"},
	{IS(PANIC_CLEANUP), "__rust_panic_cleanup"},
};

#define HASH "17h0123456789abcdefE"

static const struct expectation legacy[] = {
	{OF(WRAPPER_NON_INCR, "typeck", ENTRY), "_ZN16rustc_query_impl10query_impl6typeck22execute_"
						"query_non_incr26__rust_end_short_backtrace" HASH},
	{OF(WRAPPER_INCR, "typeck", ENTRY),
	 "_ZN16rustc_query_impl10query_impl6typeck14get_query_incr26__rust_end_short_backtrace" HASH
	 ".llvm.12345"},
	{OF(WRAPPER_NON_INCR, "layout_of", COLD),
	 "_ZN16rustc_query_impl10query_impl9layout_of18get_query_non_incr26__rust_end_short_"
	 "backtrace" HASH ".cold"},
	{OF(PROVIDER, "typeck", ENTRY), "_ZN16rustc_query_impl10query_impl6typeck18invoke_provider_"
					"fn28__rust_begin_short_backtrace" HASH},
	{IS(BODY_UNKNOWN), "_ZN18rustc_query_system5query8plumbing17try_execute_query" HASH},
	{WARM_OF(BODY_UNKNOWN),
	 "_ZN16rustc_query_impl9execution17try_execute_query" HASH ".llvm.7.warm"},
	{IS(TIMER),
	 "_ZN21rustc_data_structures9profiling15SelfProfilerRef24verbose_generic_activity" HASH},
	{IS(DROP_GUARD),
	 "_ZN4core3ptr66drop_in_place$LT$rustc_data_structures..profiling..TimingGuard$GT$" HASH},
	{COLD_OF(DROP_TIMER), "_ZN4core3ptr73drop_in_place$LT$rustc_data_structures..profiling.."
			      "VerboseTimingGuard$GT$" HASH ".cold"},
	{IS(COLD_UNKNOWN),
	 "_ZN21rustc_data_structures9profiling15SelfProfilerRef4exec9cold_call" HASH},
	{IS(COLD_HIT),
	 "_ZN21rustc_data_structures9profiling15SelfProfilerRef15query_cache_hit9cold_call" HASH},
	{IS(PANIC_CLEANUP), "_ZN7__rustc20__rust_panic_cleanup" HASH},
};

/* Real symbols, except where noted. */
static const char *const others[] = {
	"_RNvMNtCsjyvvofjlheH_10rustc_span6symbolNtB2_5Ident6as_str",
	"_RNvMs8_NtCsjyvvofjlheH_10rustc_span6symbolNtB5_6Symbol6as_strs",
	"_RNCNvMs8_NtCsjyvvofjlheH_10rustc_span6symbolNtB5_6Symbol6as_str0B7_",
	"_RNvMs3_NtCsfqPBR87PSkx_9rustc_hir11definitionsNtB5_11DefPathTable8def_path",
	DROP "INtNtNtCsjrHSEGnQ3l9_3std4sync9once_lock8OnceLockNtNtNtCsdadwybgsbvk_12rustc_"
	     "middle2ty7context6ArenasEECsjDQNFu7nQ4C_17rustc_driver_impl",
	"",
	"_R",
	"_ZN",
	"main",
	"_init",
	"_ZN12_GLOBAL__N_14pool4freeEPv.constprop.0",
	/* inside a body */
	"_RINvMs6_NtCs7z5WHpSfHQF_9hashbrown3rawINtB6_8RawTableTuNtNtNtCsdadwybgsbvk_12rustc_"
	"middle5query8plumbing15ActiveKeyStatusEE14reserve_rehashNCINvNtCsfhTr2ijyTAe_16rustc_query"
	"_impl9execution17try_execute_queryINtNtBV_6caches11SingleCacheINtNtBV_5erase10ErasedDataA"
	"hj0_EEKb1_E0EB2k_",
	/* a closure of a wrapper, and one of a body: made up */
	"_RNCNvNtNtNtCsfhTr2ijyTAe_16rustc_query_impl10query_impl6typeck" NON_INCR "0",
	"_RNCINvNtCsfhTr2ijyTAe_16rustc_query_impl9execution17try_execute_query" DEF_ID_CACHE
	"Kb1_E0B6_",
	"_RINvNtCsfhTr2ijyTAe_16rustc_query_impl9execution17try_execute_query" DEF_ID_CACHE "EB4_",
	/* in the same modules */
	"_RNvNtNtCsfhTr2ijyTAe_16rustc_query_impl10query_impl19const_param_default20encode_query_"
	"results.llvm.15520300481698896969",
	"_RNvYNCNvNtNtCsfhTr2ijyTAe_16rustc_query_impl10query_impl7ty_span18gather_active_jobs0INt"
	"NtNtCsgEmfK2I1SDS_4core3ops8function6FnOnceTNtNtNtCsdadwybgsbvk_12rustc_middle2ty7context"
	"6TyCtxtNtNtCsjyvvofjlheH_10rustc_span6def_id10LocalDefIdEE9call_onceBa_",
	/* the same function names elsewhere */
	"_RINvNtNtCsjrHSEGnQ3l9_3std3sys9backtrace28___rust_begin_short_backtraceNCINvCshZqcIsTqeTD"
	"_5ctrlc17set_handler_innerNCNvCsjDQNFu7nQ4C_17rustc_driver_impl21install_ctrlc_handler0E0u"
	"EB1T_",
	"_RINvNtNtCsjrHSEGnQ3l9_3std3sys9backtrace26___rust_end_short_backtraceNCNvNtB6_9panicking"
	"13panic_handler0zEB6_",
	OLD_PLUMBING "NCNvNtNtB4_10query_impl6typeck13dynamic_query0" OLD_RESULT,
	/* other cold calls */
	COLD "NCNvB4_16generic_nonsense0EB7_",
	/* not the closure of the method; another type; a guard of measureme */
	COLD "NCNCNvB4_16generic_activity00EB7_",
	COLD "INvB4_25generic_activity_with_argReE0EB7_",
	DROP "NtNtCskpSTIW4eawz_9measureme8profiler11TimingGuardECsdadwybgsbvk_12rustc_middle",
	DROP "INtNtCslNYArtu3iFV_5alloc3vec3VecNtNt" PROFILING "11TimingGuardEEB7_",
	"_RNvMs2_Nt" PROFILING "NtB5_18VerboseTimingGuard5start",
	"_RNvMNt" PROFILING "NtB2_15SelfProfilerRef24verbose_generic_activity0",
	"_RNvNvMNtCs3MG2ofusW15_21rustc_data_structures9profilingNtB4_15SelfProfilerRef15query_"
	"cache_hit9cold_calls",
	/* a provider whose query legacy mangling leaves out: spelled from the sources */
	"_ZN16rustc_query_impl8plumbing28__rust_begin_short_backtrace" HASH,
	/* a part of a function with an unknown suffix: made up */
	IMPL "6typeck" NON_INCR ".part.0",
	/* more than a name: made up */
	IMPL "6typeck" NON_INCR "EB4_",
	"__rust_panic_cleanup_other",
};

static void check(const struct expectation *e, bool is_legacy)
{
	struct name_info info;

	name_classify(e->symbol, &info);
	if (info.kind != e->kind || info.part != e->part)
		print_error("%s\n", e->symbol);
	assert_int_equal(info.kind, e->kind);
	assert_int_equal(info.part, e->part);
	if (e->kind != NAME_OTHER)
		assert_int_equal(info.legacy, is_legacy);
	assert_int_equal(info.query_len, e->query ? strlen(e->query) : 0);
	if (!e->query) {
		assert_null(info.query);
		return;
	}
	assert_memory_equal(info.query, e->query, info.query_len);
	assert_in_range((uintptr_t)info.query, (uintptr_t)e->symbol,
			(uintptr_t)e->symbol + strlen(e->symbol) - info.query_len);
}

#define CHECK_ALL(table, is_legacy)              \
	for (size_t i = 0; i < N_OF(table); i++) \
	check(&(table)[i], is_legacy)

TEST_CASE(names_are_known)
{
	/* Names of today are known. */
	CHECK_ALL(today, false);
	/* Older names are known. */
	CHECK_ALL(older, false);
	/* Legacy names are read as far as possible. */
	CHECK_ALL(legacy, true);
}

static void assert_other(const char *symbol)
{
	check(&(struct expectation){IS(OTHER), symbol}, false);
}

TEST_CASE(everything_else_is_other)
{
	for (size_t i = 0; i < N_OF(others); i++)
		assert_other(others[i]);
}

/* A heap copy of exact size lets a sanitizer detect a read past the end. */
static void classify_copy(const char *symbol, size_t len)
{
	char *copy = strndup(symbol, len);
	struct name_info info;

	assert_non_null(copy);
	name_classify(copy, &info);
	if (info.query) {
		assert_true(info.query >= copy);
		assert_true(info.query + info.query_len <= copy + strlen(copy));
	}
	free(copy);
}

static void truncate_all(const struct expectation *table, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t len = strlen(table[i].symbol); len; len--)
			classify_copy(table[i].symbol, len - 1);
}

TEST_CASE(truncated_names_are_survived)
{
	truncate_all(today, N_OF(today));
	truncate_all(older, N_OF(older));
	truncate_all(legacy, N_OF(legacy));
}

TEST_CASE(damaged_names_are_survived)
{
	static const char letters[] = "_RZNEKBCIsvt0123456789ab.";

	srandom(1);
	for (int round = 0; round < 100000; round++) {
		const struct expectation *from = round % 2 ? &today[random() % (N_OF(today))]
							   : &older[random() % (N_OF(older))];
		char symbol[512];
		size_t len = strlen(from->symbol);

		assert_true(len < sizeof(symbol));
		memcpy(symbol, from->symbol, len + 1);
		for (int i = random() % 4; i >= 0; i--)
			symbol[random() % len] = letters[random() % (sizeof(letters) - 1)];
		classify_copy(symbol, len);
	}
}

TEST_CASE(lengths_beyond_any_name_are_refused)
{
	static const char *const symbols[] = {"_RNvC99999999999999999999999999a",
					      "_ZN99999999999999999999999999aE",
					      "_RNvC18446744073709551615a"};

	for (size_t i = 0; i < N_OF(symbols); i++)
		assert_other(symbols[i]);
}

TEST_CASE(the_error_message_has_both_generations)
{
	assert_non_null(strstr(names_looked_for(), "execute_query"));
	assert_non_null(strstr(names_looked_for(), "get_query"));
	assert_non_null(strstr(names_looked_for(), "try_execute_query"));
}

TEST_MAIN(NULL, NULL)
