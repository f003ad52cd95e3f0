// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/function_name.h"
#include "plan/symbols/functions.h"
#include "plan/symbols/key_name.h"

#include "test.h"
#include "base/cleanup.h"
#include "../fixtures/elf_builder.h"
#include "../fixtures/library.h"
#include "qprof/wire.h"

static void assert_name(const char *symbol, const char *expected)
{
	_free_ char *name = function_name(symbol);

	assert_string_equal(name, expected);
}

static void assert_path(const char *symbol, const char *expected)
{
	_free_ char *path = function_path(symbol);

	assert_string_equal(path, expected);
}

TEST_CASE(names_are_as_rust_writes_them)
{
	assert_name("_RNvMNtCs1234_12rustc_middle2tyNtB2_8FieldDef2ty",
		    "<rustc_middle::ty::FieldDef>::ty");
	assert_name("_RNvNtCs1234_14rustc_ty_utils3abi18fn_abi_of_instance.cold",
		    "rustc_ty_utils::abi::fn_abi_of_instance.cold");
	assert_name("_RNvNtCs1234_14rustc_ty_utils3abi18fn_abi_of_instance.llvm.123",
		    "rustc_ty_utils::abi::fn_abi_of_instance");
	assert_name("_RNvNtCs1234_14rustc_ty_utils3abi18fn_abi_of_instance.llvm.123.warm.0",
		    "rustc_ty_utils::abi::fn_abi_of_instance.warm.0");
	assert_name("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write");
	assert_name("_ZN4core3fmt5write17h0123456789abcdefE.cold", "core::fmt::write.cold");
	assert_name("LLVMFoo", "LLVMFoo");
	assert_name("_Rgarbage", "_Rgarbage");
	assert_name("", "");
}

/* 40 tuples, each with the previous one twice: 2^40 pieces. */
TEST_CASE(a_name_that_never_ends_is_left_as_it_is)
{
	char symbol[1024] = "_RINvC1a1fTuuE";
	size_t last = strlen("INvC1a1f");

	for (int i = 0; i < 40; i++) {
		size_t at = strlen(symbol) - 2;
		char back[16];
		int n = 0;

		/* Back references are base-62 numbers: "_" is 0, "0_" is 1. */
		if (last > 62)
			back[n++] = "0123456789abcdefghijklmnopqrstuvwxyz"[(last - 1) / 62];
		if (last)
			back[n++] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				[(last - 1) % 62];
		back[n] = '\0';
		sprintf(symbol + strlen(symbol), "TB%s_B%s_E", back, back);
		last = at;
	}
	strcat(symbol, "E");
	assert_name(symbol, symbol);
}

/* Symbols from the librustc_driver of stable 1.95.0. */
TEST_CASE(paths_are_spelled_out)
{
	assert_path("_RNvNtNtCslKGqiwnqz1t_17rustc_codegen_ssa9debuginfo10type_names17push_generic_"
		    "args",
		    "rustc_codegen_ssa::debuginfo::type_names::push_generic_args");
	assert_path("_RNvMs6_NtNtCsdadwybgsbvk_12rustc_middle9dep_graph5graphNtB5_8DepGraph21exec_"
		    "cache_promotions",
		    "rustc_middle::dep_graph::graph::DepGraph::exec_cache_promotions");
	assert_path("_RNvXs0_NtCsairCCGeQF1y_12rustc_expand10proc_macroNtB5_15DeriveProcMacroNtNtB7"
		    "_4base17MultiItemModifier6expand",
		    "rustc_expand::proc_macro::DeriveProcMacro::expand");
	assert_path("_RNCNCNvNtCs5wPqZkVjkEZ_18rustc_monomorphize12partitioning32collect_and_"
		    "partition_mono_items00B7_",
		    "rustc_monomorphize::partitioning::collect_and_partition_mono_items::{closure}"
		    "::{closure}");
}

/* These counts print nothing and are skipped; counting would take days. */
TEST_CASE(a_count_that_never_ends_is_not_begun)
{
	static const struct {
		const char *symbol, *name, *path;
	} symbols[] = {
		{"_RNvMINtC1a1fDGzzzzzz_NtC1a1TEL_Eu1x", "<()>::x", "()::x"},
		{"_RNvMINtC1a1fFGzzzzzz_EuEu1x", "<()>::x", "()::x"},
		{"_RNvXs_INtC1a1fFGzzzzzz_EuEuC1b1x", "<() as b>::x", "()::x"},
		/* This count is printed. */
		{"_RINvC1a1fFGzzzzzz_EuE", NULL, NULL},
		/* A malformed symbol: the error comes after the count. */
		{"_RNvMINtC1a1fDGINtC1a_1f", NULL, NULL},
	};

	for (size_t i = 0; i < N_OF(symbols); i++) {
		const char *symbol = symbols[i].symbol;

		assert_name(symbol, symbols[i].name ? symbols[i].name : symbol);
		assert_path(symbol, symbols[i].path ? symbols[i].path : symbol);
	}
}

TEST_CASE(an_identifier_that_looks_like_a_count_is_read)
{
	char symbol[2064] = "", name[2064];

	assert_name("_RNvMs_NtCs1234_1a3cfgNtB4_3CFG11push_assign", "<a::cfg::CFG>::push_assign");
	assert_name("_RNvMNtCs1xDGV85I1S7_1a1bu1x", "<()>::x");
	assert_name("_RNvMINtC1a1fDG0_NtC1a1TEL_Eu1x", "<()>::x");
	assert_name("_RINvC1a1fuECs1xDGV85I1S7_1b", "a::f::<()>");
	/* The count follows the path, and would never end. */
	assert_name("_RC1aIC1bDGzzzzzz_C1cEL_E", "a");
	/* A long identifier. */
	memset(symbol, 'x', sizeof(symbol) - 2);
	memcpy(symbol, "_RNvC3DGx2050", strlen("_RNvC3DGx2050"));
	symbol[sizeof(symbol) - 2] = '_';
	sprintf(name, "DGx::%s", symbol + strlen("_RNvC3DGx2050"));
	assert_name(symbol, name);
}

TEST_CASE(a_method_is_its_type_s)
{
	/* The module of the impl is not the module of the type. */
	assert_path("_RNvMNtNtC1a1b1cNtNtC1d1e1F1g", "d::e::F::g");
	assert_path("_RNvXC1aINtC1d1FNvYuNtC1d1H1mENtC1d1H1g", "d::F::g");
	assert_path("_RNvXC1aFEuNtC1d1H1g", "fn()::g");
	assert_path("_RNvXC1aFhEhNtC1d1H1g", "fn(u8) -> u8::g");
	assert_path("_ZN3foo28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE", "foo::{closure}");
	assert_path("_ZN4$GT$17h0123456789abcdefE", ">");
}

TEST_CASE(types_are_left_out)
{
	assert_path("_RINvNtCsfhTr2ijyTAe_16rustc_query_impl9execution17try_execute_queryINtNtNtCs"
		    "dadwybgsbvk_12rustc_middle5query6caches10DefIdCacheINtNtB18_5erase10ErasedData"
		    "Ahj8_EEKb0_EB4_.cold",
		    "rustc_query_impl::execution::try_execute_query");
	assert_path("_RINvCs1_1a1fRL_eDNtB2_1TEL_FUKCjEuThhEE", "a::f");
}

TEST_CASE(legacy_names_are_known_too)
{
	assert_path("_ZN16rustc_query_impl9execution17try_execute_query17h0123456789abcdefE.llvm.1",
		    "rustc_query_impl::execution::try_execute_query");
}

TEST_CASE(a_symbol_of_no_known_scheme_is_left_unchanged)
{
	static const char *const symbols[] = {
		"main",
		"",
		"_R",
		"_RNv",
		"_RNvC9abc",
		"_ZN",
		"_ZN5abcde",
		"_RNvCs1_3abc999999999x",
		"_RINvCs1_1a1fRR",
	};

	for (size_t i = 0; i < N_OF(symbols); i++)
		assert_path(symbols[i], symbols[i]);
}

TEST_CASE(depth_is_bounded)
{
	enum { N = 100000 };
	_free_ char *symbol = malloc(N + 8);

	strcpy(symbol, "_RINvC1a1f");
	memset(symbol + 10, 'R', N - 10);
	symbol[N] = '\0';
	assert_path(symbol, symbol);
	memset(symbol + 2, 'N', N - 2);
	assert_path(symbol, symbol);
}

TEST_CASE(random_text_is_survived)
{
	static const char letters[] = "NvCIMXYBRTKEs_0123abufhDLAp";
	unsigned int seed = 1;

	for (int round = 0; round < 50000; round++) {
		char symbol[64] = "_R";

		for (int i = 2, n = rand_r(&seed) % 60; i < 2 + n; i++)
			symbol[i] = letters[rand_r(&seed) % (sizeof(letters) - 1)];
		free(function_path(symbol));
		free(function_name(symbol));
	}
}

/* ---- Symbols functions ----------------------------------------------------------------------- */

#define TEXT ELF_BUILDER_TEXT_ADDR
#define FUNC(n, a, s)                               \
	{                                           \
		n, a, s, STT_FUNC, ELF_BUILDER_TEXT \
	}

static int open_symbols(const struct elf_builder_symbol *syms, size_t n, struct functions **out)
{
	struct elf_builder b = {0};

	elf_builder__build(&b, syms, n);
	return WITH_BYTES(b.buf, b.len, functions_of(path_, out));
}

static void assert_at(const struct functions *f, uint64_t pc, const char *symbol, uint64_t addr,
		      uint32_t size)
{
	struct function_range range;

	if (!symbol) {
		assert_false(functions__find(f, pc, &range) && range.symbol);
		return;
	}
	assert_true(functions__find(f, pc, &range));
	assert_string_equal(range.symbol, symbol);
	assert_int_equal(range.addr, addr);
	assert_int_equal(range.size, size);
}

TEST_CASE(a_pc_lies_in_one_function_or_in_none)
{
	static const struct elf_builder_symbol syms[] = {
		FUNC("b", TEXT + 16, 8), FUNC("a", TEXT + 4, 4), FUNC("label", TEXT + 10, 0)};
	_functions_ struct functions *f = NULL;

	assert_int_equal(open_symbols(syms, 3, &f), 0);
	assert_at(f, 0, NULL, 0, 0);
	assert_at(f, TEXT + 3, NULL, 0, 0);
	assert_at(f, TEXT + 4, "a", TEXT + 4, 4);
	assert_at(f, TEXT + 7, "a", TEXT + 4, 4);
	assert_at(f, TEXT + 8, NULL, 0, 0);
	assert_at(f, TEXT + 10, NULL, 0, 0);
	assert_at(f, TEXT + 16, "b", TEXT + 16, 8);
	assert_at(f, TEXT + 24, NULL, 0, 0);
	assert_at(f, UINT64_MAX, NULL, 0, 0);
}

TEST_CASE(folded_functions_have_the_name_of_the_longest)
{
	static const struct elf_builder_symbol syms[] = {FUNC("c", TEXT, 8), FUNC("b", TEXT, 8),
							 FUNC("a", TEXT, 4), FUNC("d", TEXT, 8)};
	_functions_ struct functions *f = NULL;

	assert_int_equal(open_symbols(syms, 4, &f), 0);
	/* Of equally long ones, the first in the table of names. */
	assert_at(f, TEXT + 2, "c", TEXT, 8);
}

TEST_CASE(a_nested_function_splits_the_outer_one)
{
	static const struct elf_builder_symbol syms[] = {
		FUNC("outer", TEXT, 32),	 FUNC("inner", TEXT + 8, 8),
		FUNC("innermost", TEXT + 10, 4), FUNC("next", TEXT + 20, 4),
		FUNC("same", TEXT + 20, 2),	 FUNC("beyond", TEXT + 30, 10),
		FUNC("far", TEXT + 44, 2)};
	_functions_ struct functions *f = NULL;

	assert_int_equal(open_symbols(syms, 7, &f), 0);
	assert_at(f, TEXT + 7, "outer", TEXT, 8);
	assert_at(f, TEXT + 8, "inner", TEXT + 8, 2);
	assert_at(f, TEXT + 10, "innermost", TEXT + 10, 4);
	assert_at(f, TEXT + 15, "inner", TEXT + 14, 2);
	assert_at(f, TEXT + 16, "outer", TEXT + 16, 4);
	assert_at(f, TEXT + 20, "next", TEXT + 20, 4);
	assert_at(f, TEXT + 24, "outer", TEXT + 24, 6);
	assert_at(f, TEXT + 29, "outer", TEXT + 24, 6);
	assert_at(f, TEXT + 30, "beyond", TEXT + 30, 10);
	assert_at(f, TEXT + 39, "beyond", TEXT + 30, 10);
	assert_at(f, TEXT + 40, NULL, 0, 0);
	assert_at(f, TEXT + 44, "far", TEXT + 44, 2);
	assert_at(f, TEXT + 46, NULL, 0, 0);
}

TEST_CASE(a_file_without_symbols_has_no_functions)
{
	_functions_ struct functions *f = NULL, *none = NULL;

	assert_int_equal(open_symbols(NULL, 0, &f), 0);
	assert_at(f, TEXT, NULL, 0, 0);
	assert_int_equal(functions_of("/nonexistent", &none), -ENOENT);
	assert_null(none);
}

/* The symbols are in a table of this type. */
static struct functions *open_any(uint32_t type, const struct elf_builder_symbol *syms, size_t n)
{
	struct elf_builder b = {0};
	struct functions *f = NULL;
	Elf64_Shdr shdr;

	elf_builder__build(&b, syms, n);
	shdr = elf_builder__get(&b, ELF_BUILDER_SYMTAB);
	shdr.sh_type = type;
	elf_builder__put(&b, ELF_BUILDER_SYMTAB, shdr);
	assert_int_equal(WITH_BYTES(b.buf, b.len, functions_of(path_, &f)), 0);
	return f;
}

static void assert_unnamed(const struct functions *f, uint64_t pc, uint64_t addr, uint32_t size)
{
	struct function_range range;

	assert_true(functions__find(f, pc, &range));
	assert_null(range.symbol);
	assert_int_equal(range.addr, addr);
	assert_int_equal(range.size, size);
}

TEST_CASE(symbols_for_the_linker_will_do)
{
	static const struct elf_builder_symbol syms[] = {
		FUNC("b", TEXT + 16, 8), FUNC("a", TEXT + 4, 4), FUNC("longer", TEXT + 4, 6)};
	_functions_ struct functions *f = open_any(SHT_DYNSYM, syms, 3);

	assert_at(f, TEXT + 4, "longer", TEXT + 4, 6);
	assert_at(f, TEXT + 17, "b", TEXT + 16, 8);
	/* There is no table of starts. */
	assert_at(f, TEXT + 12, NULL, 0, 0);
	assert_in_range(functions__memory(f), 1, 10000);
}

TEST_CASE(code_without_a_symbol_has_ranges)
{
	/* Without an unwind table, functions start where symbols are, also those without a size. */
	static const struct elf_builder_symbol syms[] = {
		FUNC("a", TEXT + 4, 4), FUNC("label", TEXT + 10, 0), FUNC("b", TEXT + 16, 8)};
	_functions_ struct functions *f = open_any(SHT_SYMTAB, syms, 3);

	assert_at(f, TEXT + 3, NULL, 0, 0);
	assert_at(f, TEXT + 7, "a", TEXT + 4, 4);
	assert_unnamed(f, TEXT + 8, TEXT + 8, 2);
	assert_unnamed(f, TEXT + 9, TEXT + 8, 2);
	assert_unnamed(f, TEXT + 10, TEXT + 10, 6);
	assert_at(f, TEXT + 16, "b", TEXT + 16, 8);
	assert_unnamed(f, TEXT + 24, TEXT + 24, ELF_BUILDER_TEXT_SIZE - 24);
	assert_at(f, TEXT + ELF_BUILDER_TEXT_SIZE, NULL, 0, 0);
	assert_at(f, UINT64_MAX, NULL, 0, 0);
}

TEST_CASE(a_file_may_have_nothing_at_all)
{
	_functions_ struct functions *f = open_any(SHT_PROGBITS, NULL, 0);

	assert_at(f, TEXT + 4, NULL, 0, 0);
}

/* The bytes of a file's functions, of which a test damages a copy. */
static uint8_t *copy_of(const struct functions *f, size_t *len)
{
	const uint8_t *bytes = functions__bytes(f, len);
	uint8_t *copy = malloc(*len);

	assert_non_null(copy);
	return memcpy(copy, bytes, *len);
}

static const struct elf_builder_symbol few[] = {FUNC("a", TEXT + 4, 4), FUNC("bc", TEXT + 8, 4),
						FUNC("d", TEXT + 16, 8)};

TEST_CASE(functions_are_the_same_in_a_store)
{
	_functions_ struct functions *f = open_any(SHT_SYMTAB, few, 3), *back = NULL;
	uint8_t id[ELF_BUILD_ID_MAX], same[ELF_BUILD_ID_MAX];
	struct function_range x, y;
	size_t len;
	_free_ uint8_t *copy = copy_of(f, &len);

	assert_int_equal(functions__of_bytes(copy, len, NULL, 0, &back), 0);
	for (uint64_t pc = TEXT - 1; pc <= TEXT + ELF_BUILDER_TEXT_SIZE; pc++) {
		bool found = functions__find(f, pc, &x);

		assert_int_equal(functions__find(back, pc, &y), found);
		if (!found)
			continue;
		assert_int_equal(x.addr, y.addr);
		assert_int_equal(x.size, y.size);
		assert_string_equal(x.symbol ?: "", y.symbol ?: "");
	}
	assert_int_equal(functions__build_id(f, id), functions__build_id(back, same));
	assert_memory_equal(id, same, sizeof(id));
}

TEST_CASE(damaged_functions_are_refused)
{
	_functions_ struct functions *f = open_any(SHT_SYMTAB, few, 3), *back = NULL;
	size_t len, ranges;
	_free_ uint8_t *copy = copy_of(f, &len);

	for (size_t n = 0; n < len; n++)
		assert_int_equal(functions__of_bytes(copy, n, NULL, 0, &back), -EBADMSG);
	/* All but the names has a checksum. */
	ranges = len - sizeof("a\0bc\0d");
	for (size_t i = 0; i < ranges; i++) {
		copy[i] ^= 0x10;
		assert_int_equal(functions__of_bytes(copy, len, NULL, 0, &back), -EBADMSG);
		copy[i] ^= 0x10;
	}
	/* Without its end, a name would be read beyond the bytes. */
	copy[len - 1] = 'x';
	assert_int_equal(functions__of_bytes(copy, len, NULL, 0, &back), -EBADMSG);
	copy[len - 1] = 0;
	/* A checksum can be made for everything: two ranges that overlap, one without a size. */
	memset(copy + FUNCTIONS_HEADER + FUNCTIONS_RANGE, 0, 4);
	functions__seal(copy, len);
	assert_int_equal(functions__of_bytes(copy, len, NULL, 0, &back), -EBADMSG);
	memcpy(copy, functions__bytes(f, &len), len);
	memset(copy + FUNCTIONS_HEADER + 4, 0, 4);
	functions__seal(copy, len);
	assert_int_equal(functions__of_bytes(copy, len, NULL, 0, &back), -EBADMSG);
	assert_null(back);
}

/* ---- Symbols key name ------------------------------------------------------------------------ */

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

static void key_name_assert_name(const char *symbol, enum wire_key key, uint32_t size)
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

TEST_CASE(the_cache_has_the_type)
{
	key_name_assert_name(DEF_ID("8"), WIRE_KEY_DEF, 8);
	key_name_assert_name(DEF_ID("1c"), WIRE_KEY_DEF, 28);
	key_name_assert_name(DEF_ID("0"), WIRE_KEY_DEF, 0);
	key_name_assert_name(BODY CACHES "11SingleCache" VALUE("10") "EKb0_EB4_", WIRE_KEY_UNIT,
			     16);
	key_name_assert_name(VEC("NtNtCs5_10rustc_span6def_id10LocalDefId"), WIRE_KEY_LOCAL, 4);
	key_name_assert_name(VEC("NtCs5_12rustc_hir_id7OwnerId"), WIRE_KEY_LOCAL, 4);
	key_name_assert_name(VEC("NtNtCs5_10rustc_span6def_id8CrateNum"), WIRE_KEY_CRATE, 4);
	key_name_assert_name(HASHED("NtNtCs5_10rustc_span6def_id13LocalModDefId"), WIRE_KEY_LOCAL,
			     32);
	key_name_assert_name(HASHED("NtNtCs5_10rustc_span6def_id5DefId"), WIRE_KEY_DEF, 32);
	key_name_assert_name(HASHED("NtNtNtCs2_12rustc_middle2ty8instance8Instance"),
			     WIRE_KEY_UNKNOWN, 32);
	key_name_assert_name(
		HASHED("TNtNtCs5_10rustc_span6def_id5DefIdRINtCs2_12rustc_middle4ListuEE"),
		WIRE_KEY_UNKNOWN, 32);
}

static void assert_type(const char *symbol, const char *type)
{
	assert_string_equal(key_name__parse(symbol).type, type);
}

TEST_CASE(types_have_no_modules)
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

TEST_CASE(a_long_type_is_unknown)
{
	char symbol[1024] = BODY CACHES "12DefaultCacheT", *end = symbol + strlen(symbol);

	for (int i = 0; i < KEY_TYPE_MAX / 4; i++)
		end = stpcpy(end, "NtC1a2Ty");
	strcpy(end, "E" VALUE("20") "EKb0_EB4_");
	assert_type(symbol, "");
}

#define KEYS "NtNtCs1_12rustc_middle5query4keys"

TEST_CASE(functions_of_keys)
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
TEST_CASE(back_references_are_followed)
{
	key_name_assert_name(
		"_RINvNtCsfhTr2ijyTAe_16rustc_query_impl9execution17try_execute_query"
		"INtNtNtCsdadwybgsbvk_12rustc_middle5query6caches12DefaultCache"
		"NtNtNtB1a_2ty8instance8InstanceINtNtB18_5erase10ErasedDataAhj10_EEKb0_EB4_",
		WIRE_KEY_UNKNOWN, 16);
	key_name_assert_name(
		"_RINvNtCsfhTr2ijyTAe_16rustc_query_impl9execution17try_execute_query"
		"INtNtCs3MG2ofusW15_21rustc_data_structures9vec_cache8VecCache"
		"NtNtCsjyvvofjlheH_10rustc_span6def_id10LocalDefId"
		"INtNtNtCsdadwybgsbvk_12rustc_middle5query5erase10ErasedDataAhj8_E"
		"NtNtNtB2W_9dep_graph5graph12DepNodeIndexEKb1_EB4_.llvm.15520300481698896969",
		WIRE_KEY_LOCAL, 8);
}

/* Where the symbol table is gone, 1.95 still exports this. */
TEST_CASE(a_task_that_executes_a_query_holds_the_cache)
{
	key_name_assert_name(
		TASK "TRINtNtNtBY_5query8plumbing11QueryVTableINtNtB40_6caches10DefIdCache"
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

TEST_CASE(a_guard_holds_the_key)
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

TEST_CASE(a_table_holds_the_key_and_the_size)
{
	key_name_assert_name(TABLE("TNtNtCs2_10rustc_span6def_id5DefId" RESULT "E"), WIRE_KEY_DEF,
			     28);
	assert_type(TABLE("TNtNtCs2_10rustc_span6def_id5DefId" RESULT "E"), "DefId");
	key_name_assert_name(TABLE("TTNtNtCs2_10rustc_span6def_id5DefIdjE" RESULT "E"),
			     WIRE_KEY_UNKNOWN, 28);
	assert_type(TABLE("TTNtNtCs2_10rustc_span6def_id5DefIdjE" RESULT "E"), "(DefId, usize)");
	assert_type(TABLE("NtNtCs2_10rustc_span6def_id5DefId"), "");
	assert_type(TABLE("TNtNtCs2_10rustc_span6def_id5DefIdjE"), "");
}

#define TAGGED "_RNvMNtCs1_12rustc_middle7queriesNtB2_14TaggedQueryKey"

TEST_CASE(functions_of_the_enum_of_queries)
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
TEST_CASE(a_configuration_holds_the_cache)
{
	key_name_assert_name(
		"_RINvNtNtCs1_18rustc_query_system5query8plumbing17try_execute_query"
		"INtCs2_16rustc_query_impl13DynamicConfig"
		"INtNtNtCs1_18rustc_query_system5query6caches10DefIdCache"
		"INtNtNtCs3_12rustc_middle5query5erase6ErasedAhj18_EEKb0_Kb0_Kb0_E"
		"NtNtCs2_16rustc_query_impl8plumbing9QueryCtxtKb0_ECs2_16rustc_query_impl",
		WIRE_KEY_DEF, 24);
}

TEST_CASE(other_types_are_unknown)
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

TEST_CASE(a_value_of_another_type_has_no_size)
{
	struct key_name name = key_name__parse(BODY CACHES "10DefIdCacheAhj8_EKb0_EB4_");

	assert_int_equal(name.key, WIRE_KEY_DEF);
	assert_false(name.has_size);
}

TEST_CASE(what_is_no_body_is_unknown)
{
	assert_unknown("");
	assert_unknown("_R");
	assert_unknown("main");
	assert_unknown("_ZN16rustc_query_impl9execution17try_execute_query17h0123456789abcdefE");
	assert_unknown("_RNvNtCs1_16rustc_query_impl9execution17try_execute_query");
	assert_unknown(BODY "EB4_");
}

TEST_MAIN(NULL, NULL)
