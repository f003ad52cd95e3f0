// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "budget/usual.h"

#include <string.h>

#include "base/array.h"

/* Of a name that is not below: another version of rustc may have renamed a hot query. */
#define UNKNOWN_PER_S 3000

/* Names in a text are separated by single blanks. */
static const struct {
	double per_s; /* at most */
	const char *queries;
} rates[] = {
	{3, "adt_async_drop_tys adt_significant_drop_tys alloc_error_handler_kind "
	    "asm_target_features assumed_wf_types_for_rpitit "
	    "check_potentially_region_dependent_goals check_validity_requirement "
	    "coerce_unsized_info collect_return_position_impl_trait_in_trait_tys const_of_item "
	    "const_param_default coroutine_by_move_body_def_id coroutine_for_closure "
	    "coroutine_hidden_types coverage_attr_on coverage_ids_info crate_extern_paths "
	    "crate_for_resolver default_field derive_macro_expansion diagnostic_hir_wf_check "
	    "doc_link_resolutions doc_link_traits_in_scope duplicate_crate_names "
	    "dylib_dependency_formats env_var_os eval_static_initializer "
	    "evaluate_root_goal_for_proof_tree_raw features_query first_method_vtable_slot "
	    "fn_abi_of_fn_ptr has_significant_drop_raw has_structural_eq_impl hir_owner_parent_q "
	    "implied_target_features inherit_sig_for_delegation_item is_async_drop_raw "
	    "is_doc_notable_trait is_impossible_associated_item is_use_cloned_raw item_bounds "
	    "item_non_self_bounds list_significant_drop_tys lookup_const_stability "
	    "mir_coroutine_witnesses missing_extern_crate_item native_library "
	    "needs_async_drop_raw normalize_canonicalized_free_alias "
	    "normalize_canonicalized_inherent_projection num_extern_def_ids "
	    "opaque_captured_lifetimes opaque_ty_origin output_filenames panic_in_drop_strategy "
	    "rendered_const rendered_precise_capturing_args skip_move_check_fns source_span "
	    "supertrait_vtable_slot tag_for_variant trait_impls_in_crate trigger_delayed_bug "
	    "trimmed_def_paths type_of_opaque type_of_opaque_hir_typeck "
	    "type_op_normalize_poly_fn_sig upstream_async_drop_glue_for "
	    "upstream_monomorphizations visible_parent_map wasm_import_module_map"},
	{10, "all_diagnostic_items all_local_trait_impls allocator_kind analysis "
	     "backend_optimization_level check_expectations check_externally_implementable_items "
	     "check_type_wf check_unused_traits clashing_extern_declarations codegen_unit "
	     "collect_and_partition_mono_items crate_inherent_impls "
	     "crate_inherent_impls_overlap_check crate_inherent_impls_validity_check "
	     "crate_variances crates debugger_visualizers dependency_formats early_lint_checks "
	     "effective_visibilities entry_fn foreign_modules get_lang_items "
	     "global_backend_features has_alloc_error_handler has_global_allocator "
	     "has_panic_handler hir_crate hir_crate_items inferred_outlives_crate is_panic_runtime "
	     "is_promotable_const_fn lib_features limits lint_expectations "
	     "lints_that_dont_need_to_run live_symbols_and_ignored_derived_traits mir_keys "
	     "opt_ast_lowering_delayed_lints postorder_cnums proc_macro_decls_static reachable_set "
	     "registered_tools required_panic_strategy resolutions resolver_for_lowering_raw "
	     "rust_target_features stability_implications stripped_cfg_items "
	     "symbol_mangling_version traits used_crates"},
	{30, "dyn_compatibility_violations eval_to_valtree explicit_item_bounds "
	     "explicit_item_self_bounds exportable_items exported_non_generic_symbols "
	     "is_dyn_compatible item_self_bounds own_existential_vtable_entries "
	     "reachable_non_generics specialization_enabled_in stable_order_of_exportable_impls "
	     "trait_explicit_predicates_and_bounds type_alias_is_lazy upstream_drop_glue_for "
	     "valtree_to_const_val vtable_allocation vtable_entries"},
	{100, "adt_async_destructor anon_const_kind check_mod_attrs check_mod_deathness "
	      "check_mod_privacy check_mod_unstable_api_usage check_private_in_public "
	      "closure_typeinfo diagnostic_items explicit_supertraits_containing_assoc_item "
	      "exported_generic_symbols extern_crate generics_require_sized_self hir_module_items "
	      "is_rhs_type_const is_unpin_raw is_unreachable_local_definition is_unsafe_unpin_raw "
	      "lint_mod mir_shims representability_adt_ty ty_span unsizing_params_for_adt"},
	{300, "adt_destructor adt_drop_tys adt_dtorck_constraint crate_dep_kind crate_hash "
	      "crate_host_hash crate_name defined_lang_items erase_and_anonymize_regions_ty "
	      "explicit_implied_const_bounds explicit_super_predicates_of "
	      "externally_implementable_items extra_filename incoherent_impls inherent_impls "
	      "instantiate_and_check_impossible_predicates is_codegened_item is_compiler_builtins "
	      "is_doc_hidden is_freeze_raw is_no_builtins is_private_dep is_profiler_runtime "
	      "lit_to_const mir_callgraph_cyclic mir_const_qualif missing_lang_items "
	      "native_libraries params_in_repr specialization_graph_of specializes "
	      "type_op_normalize_clause type_op_normalize_ty type_param_predicates "
	      "upstream_monomorphizations_for used_crate_source"},
	{1000,
	 "adt_def adt_sizedness_constraint associated_types_for_impl_traits_in_trait_or_impl "
	 "attrs_for_def closure_saved_names_of_captured_variables codegen_select_candidate "
	 "coherent_trait const_conditions crate_incoherent_impls deduced_param_attrs "
	 "dropck_outlives enforce_impl_non_lifetime_params_are_constrained "
	 "eval_to_allocation_raw eval_to_const_value_raw explicit_implied_predicates_of "
	 "impl_item_implementor_ids impl_self_is_guaranteed_unsized in_scope_traits_map "
	 "inhabited_predicate_adt inhabited_predicate_type is_late_bound_map is_mir_available "
	 "is_reachable_non_generic is_sized_raw local_trait_impls "
	 "lookup_default_body_stability method_autoderef_steps "
	 "mir_drops_elaborated_and_const_checked mir_for_ctfe mir_inliner_callees "
	 "module_children normalize_canonicalized_projection orphan_check_impl promoted_mir "
	 "representability reveal_opaque_types_in_bounds size_estimate trait_def "
	 "trait_impls_of try_normalize_generic_arg_after_erasing_regions "
	 "type_op_ascribe_user_type type_op_normalize_fn_sig"},
	{3000,
	 "associated_item_def_ids associated_items assumed_wf_types asyncness "
	 "check_coroutine_obligations check_liveness check_match check_mono_item "
	 "check_tail_calls check_transmutes check_unsafety codegen_fn_attrs compare_impl_item "
	 "constness coroutine_kind cross_crate_inlinable expn_that_defined fn_abi_of_instance "
	 "fn_arg_idents fn_sig has_ffi_unwind_calls hir_attr_map impl_super_outlives "
	 "inherited_align intrinsic_raw is_copy_raw items_of_instance late_bound_vars_map "
	 "lookup_stability mir_borrowck mir_built mir_promoted named_variable_map "
	 "needs_drop_raw nested_bodies_within object_lifetime_default opaque_types_defined_by "
	 "opt_hir_owner_nodes optimized_mir region_scope_tree resolve_bound_vars "
	 "resolve_instance_raw sanitizer_settings_for shallow_lint_levels_on "
	 "should_inherit_track_caller symbol_name thir_abstract_const thir_body trivial_const "
	 "typeck typing_env_normalized_for_post_analysis upvars_mentioned used_trait_imports "
	 "variances_of visibility"},
	{10000,
	 "check_well_formed def_ident_span def_kind def_span defaultness evaluate_obligation "
	 "explicit_predicates_of generics_of implementations_of_trait implied_outlives_bounds "
	 "inferred_outlives_of layout_of local_def_id_to_hir_id lookup_deprecation_entry "
	 "param_env predicates_of type_of type_op_prove_predicate"},
	{30000, "associated_item"},
	{100000, "impl_parent impl_trait_header"},
};

static const char activities[] =
	"AST_validation LLVM_lto_optimize LLVM_module_codegen "
	"LLVM_module_codegen_embed_bitcode LLVM_module_codegen_emit_obj LLVM_module_optimize "
	"LLVM_passes LLVM_thin_lto_global_analysis LLVM_thin_lto_import "
	"LLVM_thin_lto_internalize LLVM_thin_lto_rename LLVM_thin_lto_resolve_weak "
	"LLVM_thinlto MIR_borrow_checking abi_testing assert_symbols_are_distinct "
	"cgu_partitioning cgu_partitioning_internalize_symbols cgu_partitioning_merge_cgus "
	"cgu_partitioning_place_items check_externally_implementable_items "
	"check_lint_expectations check_unused_macros codegen_crate codegen_module "
	"codegen_module_optimize codegen_module_perform_lto codegen_thin_generate_lto_work "
	"coherence_checking complete_gated_feature_checking compute_debuginfo_type_name "
	"compute_effective_visibilities crate_injection crate_lints drop_ast drop_compiler "
	"drop_dep_graph emit_ast_lowering_delayed_lints expand_crate finalize_imports "
	"finalize_macro_resolutions find_cgu_reuse finish_ongoing_codegen "
	"generate_crate_metadata join_worker_thread late_resolve_crate layout_testing link "
	"link_binary link_binary_check_files_are_writeable link_binary_remove_temps "
	"link_crate link_rlib lint_checking lint_reexports looking_for_derive_registrar "
	"looking_for_entry_point lto_generate_symbols_below_threshold macro_expand_crate "
	"maybe_building_test_harness maybe_create_a_macro_crate metadata_load_macro "
	"metadata_register_crate misc_checking_1 misc_checking_3 module_lints "
	"monomorphization_collector monomorphization_collector_graph_walk "
	"monomorphization_collector_root_collections parse_crate "
	"partition_and_assert_distinct_symbols pre_AST_expansion_lint_checks "
	"privacy_checking_modules resolve_check_unused resolve_crate resolve_main "
	"resolve_postprocess resolve_report_errors serialize_dep_graph "
	"serialize_work_products target_machine_factory target_machine_factory_inner "
	"type_check_crate unused_lib_feature_checking write_crate_metadata write_dep_info";

static bool has_name(const char *names, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = names; len && (p = strstr(p, name)); p++)
		if ((p == names || p[-1] == ' ') && (!p[len] || p[len] == ' '))
			return true;
	return false;
}

double usual_rate(const char *query)
{
	for (size_t i = 0; i < N_OF(rates); i++)
		if (has_name(rates[i].queries, query))
			return rates[i].per_s;
	return UNKNOWN_PER_S;
}

bool usual_has_activity(const char *label)
{
	return label && *label && has_name(activities, label);
}
