// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/function_name.h"
#include "plan/symbols/functions.h"
#include "plan/symbols/key_name.h"

#include "test.h"
#include "base/cleanup.h"
#include "../fixtures/elf_builder.h"
#include "../fixtures/library.h"
#include "../fixtures/rows.h"
#include "qprof/wire.h"

/* NULL: not asked for. */
static void assert_names(const char *symbol, const char *name, const char *path)
{
	_free_ char *whole = function_name(symbol), *shortened = function_path(symbol);

	if (name)
		row_text(symbol, whole, name);
	if (path)
		row_text(symbol, shortened, path);
}

TEST_CASE(names_are_as_rust_writes_them)
{
	static const struct {
		const char *symbol, *name, *path;
	} symbols[] = {
		{"_RNvMNtCs1234_12rustc_middle2tyNtB2_8FieldDef2ty",
		 "<rustc_middle::ty::FieldDef>::ty", NULL},
		{"_RNvNtCs1234_14rustc_ty_utils3abi18fn_abi_of_instance.cold",
		 "rustc_ty_utils::abi::fn_abi_of_instance.cold", NULL},
		{"_RNvNtCs1234_14rustc_ty_utils3abi18fn_abi_of_instance.llvm.123",
		 "rustc_ty_utils::abi::fn_abi_of_instance", NULL},
		{"_RNvNtCs1234_14rustc_ty_utils3abi18fn_abi_of_instance.llvm.123.warm.0",
		 "rustc_ty_utils::abi::fn_abi_of_instance.warm.0", NULL},
		{"_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write", NULL},
		{"_ZN4core3fmt5write17h0123456789abcdefE.cold", "core::fmt::write.cold", NULL},
		{"LLVMFoo", "LLVMFoo", NULL},
		{"_Rgarbage", "_Rgarbage", NULL},
		{"", "", ""},
		/* What looks like a count, and is an identifier. */
		{"_RNvMs_NtCs1234_1a3cfgNtB4_3CFG11push_assign", "<a::cfg::CFG>::push_assign",
		 NULL},
		{"_RNvMNtCs1xDGV85I1S7_1a1bu1x", "<()>::x", NULL},
		{"_RNvMINtC1a1fDG0_NtC1a1TEL_Eu1x", "<()>::x", NULL},
		{"_RINvC1a1fuECs1xDGV85I1S7_1b", "a::f::<()>", NULL},
		/* The count follows the path, and would never end. */
		{"_RC1aIC1bDGzzzzzz_C1cEL_E", "a", NULL},
		/* These counts print nothing and are skipped; counting would take days. */
		{"_RNvMINtC1a1fDGzzzzzz_NtC1a1TEL_Eu1x", "<()>::x", "()::x"},
		{"_RNvMINtC1a1fFGzzzzzz_EuEu1x", "<()>::x", "()::x"},
		{"_RNvXs_INtC1a1fFGzzzzzz_EuEuC1b1x", "<() as b>::x", "()::x"},
		/* From the librustc_driver of stable 1.95.0. */
		{"_RNvNtNtCslKGqiwnqz1t_17rustc_codegen_ssa9debuginfo10type_names17push_generic_"
		 "args",
		 NULL, "rustc_codegen_ssa::debuginfo::type_names::push_generic_args"},
		{"_RNvMs6_NtNtCsdadwybgsbvk_12rustc_middle9dep_graph5graphNtB5_8DepGraph21exec_"
		 "cache_promotions",
		 NULL, "rustc_middle::dep_graph::graph::DepGraph::exec_cache_promotions"},
		{"_RNvXs0_NtCsairCCGeQF1y_12rustc_expand10proc_macroNtB5_15DeriveProcMacroNtNtB7"
		 "_4base17MultiItemModifier6expand",
		 NULL, "rustc_expand::proc_macro::DeriveProcMacro::expand"},
		{"_RNCNCNvNtCs5wPqZkVjkEZ_18rustc_monomorphize12partitioning32collect_and_"
		 "partition_mono_items00B7_",
		 NULL,
		 "rustc_monomorphize::partitioning::collect_and_partition_mono_items::{closure}"
		 "::{closure}"},
		/* The module of the impl is not the module of the type. */
		{"_RNvMNtNtC1a1b1cNtNtC1d1e1F1g", NULL, "d::e::F::g"},
		{"_RNvXC1aINtC1d1FNvYuNtC1d1H1mENtC1d1H1g", NULL, "d::F::g"},
		{"_RNvXC1aFEuNtC1d1H1g", NULL, "fn()::g"},
		{"_RNvXC1aFhEhNtC1d1H1g", NULL, "fn(u8) -> u8::g"},
		{"_ZN3foo28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE", NULL,
		 "foo::{closure}"},
		{"_ZN4$GT$17h0123456789abcdefE", NULL, ">"},
		/* Arguments are left out. */
		{"_RINvNtCsfhTr2ijyTAe_16rustc_query_impl9execution17try_execute_queryINtNtNtCs"
		 "dadwybgsbvk_12rustc_middle5query6caches10DefIdCacheINtNtB18_5erase10ErasedData"
		 "Ahj8_EEKb0_EB4_.cold",
		 NULL, "rustc_query_impl::execution::try_execute_query"},
		{"_RINvCs1_1a1fRL_eDNtB2_1TEL_FUKCjEuThhEE", NULL, "a::f"},
		{"_ZN16rustc_query_impl9execution17try_execute_query17h0123456789abcdefE.llvm.1",
		 NULL, "rustc_query_impl::execution::try_execute_query"},
	};

	for (size_t i = 0; i < N_OF(symbols); i++)
		assert_names(symbols[i].symbol, symbols[i].name, symbols[i].path);
}

TEST_CASE(what_is_not_understood_is_left_as_it_is)
{
	static const char *const both[] = {"_RINvC1a1fFGzzzzzz_EuE", /* this count is printed */
					   /* malformed: the error comes after the count */
					   "_RNvMINtC1a1fDGINtC1a_1f"},
				 *const paths[] = {"main",
						   "_R",
						   "_RNv",
						   "_RNvC9abc",
						   "_ZN",
						   "_ZN5abcde",
						   "_RNvCs1_3abc999999999x",
						   "_RINvCs1_1a1fRR"};

	for (size_t i = 0; i < N_OF(both); i++)
		assert_names(both[i], both[i], both[i]);
	for (size_t i = 0; i < N_OF(paths); i++)
		assert_names(paths[i], NULL, paths[i]);
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
	assert_names(symbol, symbol, NULL);
}

TEST_CASE(a_long_identifier_is_read)
{
	char symbol[2064] = "", name[2064];

	memset(symbol, 'x', sizeof(symbol) - 2);
	memcpy(symbol, "_RNvC3DGx2050", strlen("_RNvC3DGx2050"));
	symbol[sizeof(symbol) - 2] = '_';
	sprintf(name, "DGx::%s", symbol + strlen("_RNvC3DGx2050"));
	assert_names(symbol, name, NULL);
}

TEST_CASE(depth_is_bounded)
{
	enum { N = 100000 };
	_free_ char *symbol = malloc(N + 8);

	strcpy(symbol, "_RINvC1a1f");
	memset(symbol + 10, 'R', N - 10);
	symbol[N] = '\0';
	assert_names(symbol, NULL, symbol);
	memset(symbol + 2, 'N', N - 2);
	assert_names(symbol, NULL, symbol);
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

/*
 * All ranges in their order, "name start+size" with starts within the code, and "?" for no name.
 * Each pc is looked up, and a range found at each of its own only.
 */
static void assert_ranges(const struct functions *f, const char *expected)
{
	struct function_range range, last = {.symbol = NULL};
	char text[256] = "";
	size_t len = 0;

	for (uint64_t pc = TEXT - 1; pc <= TEXT + ELF_BUILDER_TEXT_SIZE + 1; pc++) {
		if (!functions__find(f, pc, &range)) {
			assert_true(pc >= last.addr + last.size);
			continue;
		}
		assert_true(pc >= range.addr && pc < range.addr + range.size);
		if (range.addr == last.addr)
			continue;
		assert_int_equal(pc, range.addr);
		assert_true(pc >= last.addr + last.size);
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s %u+%u",
					len ? ", " : "", range.symbol ?: "?",
					(unsigned int)(range.addr - TEXT), range.size);
		last = range;
	}
	assert_string_equal(text, expected);
	assert_false(functions__find(f, 0, &range));
	assert_false(functions__find(f, UINT64_MAX, &range));
}

static void assert_ranges_of(const struct elf_builder_symbol *syms, size_t n, const char *expected)
{
	_functions_ struct functions *f = NULL;

	assert_int_equal(open_symbols(syms, n, &f), 0);
	assert_ranges(f, expected);
}

#define SYMBOLS(...)                                      \
	(const struct elf_builder_symbol[]){__VA_ARGS__}, \
		N_OF(((struct elf_builder_symbol[]){__VA_ARGS__}))

TEST_CASE(a_pc_lies_in_one_function_or_in_none)
{
	_functions_ struct functions *none = NULL;

	assert_ranges_of(SYMBOLS(FUNC("b", TEXT + 16, 8), FUNC("a", TEXT + 4, 4),
				 FUNC("label", TEXT + 10, 0)),
			 "a 4+4, ? 8+2, ? 10+6, b 16+8, ? 24+40");
	/* Of folded ones that of the longest; of equally long ones, the first in the table of
	 * names. */
	assert_ranges_of(SYMBOLS(FUNC("c", TEXT, 8), FUNC("b", TEXT, 8), FUNC("a", TEXT, 4),
				 FUNC("d", TEXT, 8)),
			 "c 0+8, ? 8+56");
	/* A nested function splits the outer one. */
	assert_ranges_of(SYMBOLS(FUNC("outer", TEXT, 32), FUNC("inner", TEXT + 8, 8),
				 FUNC("innermost", TEXT + 10, 4), FUNC("next", TEXT + 20, 4),
				 FUNC("same", TEXT + 20, 2), FUNC("beyond", TEXT + 30, 10),
				 FUNC("far", TEXT + 44, 2)),
			 "outer 0+8, inner 8+2, innermost 10+4, inner 14+2, outer 16+4, "
			 "next 20+4, outer 24+6, beyond 30+10, ? 40+4, far 44+2, ? 46+18");
	assert_ranges_of(NULL, 0, "");
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

TEST_CASE(code_is_divided_by_what_there_is)
{
	_functions_ struct functions *dynamic =
		open_any(SHT_DYNSYM, SYMBOLS(FUNC("b", TEXT + 16, 8), FUNC("a", TEXT + 4, 4),
					     FUNC("longer", TEXT + 4, 6)));
	_functions_ struct functions *all =
		open_any(SHT_SYMTAB, SYMBOLS(FUNC("a", TEXT + 4, 4), FUNC("label", TEXT + 10, 0),
					     FUNC("b", TEXT + 16, 8)));
	_functions_ struct functions *nothing = open_any(SHT_PROGBITS, NULL, 0);

	/* Symbols for the linker will do. There is no table of starts. */
	assert_ranges(dynamic, "longer 4+6, b 16+8");
	assert_in_range(functions__memory(dynamic), 1, 10000);
	/* Without an unwind table, functions start where symbols are, also those without a size. */
	assert_int_equal(ELF_BUILDER_TEXT_SIZE, 64);
	assert_ranges(all, "a 4+4, ? 8+2, ? 10+6, b 16+8, ? 24+40");
	assert_ranges(nothing, "");
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

#define GUARD(key)                                                            \
	"_RNvXs_NtCs1_16rustc_query_impl9executionINtB4_14ActiveJobGuard" key \
	"ENtNtNtCs3_4core3ops4drop4Drop4dropB6_"
#define TABLE(row) "_RINvMs6_NtCs1_9hashbrown3rawINtB6_8RawTable" row "E14reserve_rehashuECs3_4main"
#define RESULT                                                                \
	"TINtNtNtCs2_12rustc_middle5query5erase10ErasedDataAhj1c_ENtNtNtCs2_" \
	"12rustc_middle9dep_graph5graph12DepNodeIndexE"
#define DEF   "NtNtCs5_10rustc_span6def_id5DefId"
#define DEF_2 "NtNtCs2_10rustc_span6def_id5DefId"
/* "key size type", with "?" for an unknown key and "-" for an unknown size. */
static void print_key(const char *symbol, char text[KEY_TYPE_MAX + 32])
{
	static const char *const keys[] = {"?", "unit", "local", "def", "crate"};
	const struct key_name name = key_name__parse(symbol);
	char size[16] = "-";

	assert_in_range(name.key, 0, N_OF(keys) - 1);
	if (name.has_size)
		snprintf(size, sizeof(size), "%u", name.size);
	snprintf(text, KEY_TYPE_MAX + 32, "%s %s %s", keys[name.key], size, name.type);
}

TEST_CASE(a_symbol_shows_key_and_size)
{
	static const struct {
		const char *symbol, *shown;
	} rows[] = {
		{DEF_ID("8"), "def 8 DefId"},
		{DEF_ID("1c"), "def 28 DefId"},
		{DEF_ID("0"), "def 0 DefId"},
		{BODY CACHES "11SingleCache" VALUE("10") "EKb0_EB4_", "unit 16 ()"},
		{VEC("NtNtCs5_10rustc_span6def_id10LocalDefId"), "local 4 LocalDefId"},
		{VEC("NtCs5_12rustc_hir_id7OwnerId"), "local 4 OwnerId"},
		{VEC("NtNtCs5_10rustc_span6def_id8CrateNum"), "crate 4 CrateNum"},
		{HASHED("NtNtCs5_10rustc_span6def_id13LocalModDefId"), "local 32 LocalModDefId"},
		{HASHED(DEF), "def 32 DefId"},
		{HASHED("NtNtNtCs2_12rustc_middle2ty8instance8Instance"), "? 32 Instance"},
		{HASHED("T" DEF "RINtCs2_12rustc_middle4ListuEE"), "? 32 (DefId, &List<()>)"},
		{HASHED("NtNtCs2_12rustc_middle2ty2Ty"), "? 32 Ty"},
		{HASHED("T" DEF
			"RINtNtCs2_12rustc_middle2ty7RawListuNtNtCs2_12rustc_middle2ty2TyEE"),
		 "? 32 (DefId, &RawList<(), Ty>)"},
		{HASHED("T" DEF DEF "E"), "? 32 (DefId, DefId)"},
		{HASHED("INtNtCs5_10rustc_span6def_id5DefIduE"), "? 32 DefId<()>"},
		{HASHED("R" DEF), "? 32 &DefId"},
		{HASHED("FEu"), "? 32 fn()"},
		/* Of another program. */
		{HASHED("NtNtCs5_4mine6def_id5DefId"), "? 32 DefId"},
		{HASHED("NtNtCs5_10rustc_span6def_id7UnDefId"), "? 32 UnDefId"},
		{BODY CACHES "9LostCache" VALUE("8") "EKb0_EB4_", "? - "},
		{BODY DEF "Kb0_EB4_", "? - "},
		{BODY CACHES "10DefIdCacheAhj8_EKb0_EB4_", "def - DefId"},
		/* No bodies. */
		{"", "? - "},
		{"_R", "? - "},
		{"main", "? - "},
		{"_ZN16rustc_query_impl9execution17try_execute_query17h0123456789abcdefE", "? - "},
		{"_RNvNtCs1_16rustc_query_impl9execution17try_execute_query", "? - "},
		{BODY "EB4_", "? - "},
		/* Back references, as rustc 1.95 and 1.97 have them. */
		{"_RINvNtCsfhTr2ijyTAe_16rustc_query_impl9execution17try_execute_query"
		 "INtNtNtCsdadwybgsbvk_12rustc_middle5query6caches12DefaultCache"
		 "NtNtNtB1a_2ty8instance8InstanceINtNtB18_5erase10ErasedDataAhj10_EEKb0_"
		 "EB4_",
		 "? 16 Instance"},
		{"_RINvNtCsfhTr2ijyTAe_16rustc_query_impl9execution17try_execute_query"
		 "INtNtCs3MG2ofusW15_21rustc_data_structures9vec_cache8VecCache"
		 "NtNtCsjyvvofjlheH_10rustc_span6def_id10LocalDefId"
		 "INtNtNtCsdadwybgsbvk_12rustc_middle5query5erase10ErasedDataAhj8_E"
		 "NtNtNtB2W_9dep_graph5graph12DepNodeIndexEKb1_EB4_.llvm."
		 "15520300481698896969",
		 "local 8 LocalDefId"},
		/* A task that executes a query. Where the symbol table is gone, 1.95 exports it. */
		{TASK "TRINtNtNtBY_5query8plumbing11QueryVTableINtNtB40_6caches10DefIdCache"
		      "INtNtB40_5erase10ErasedDataAhj8_EEENtNtCsjyvvofjlheH_10rustc_span6def_id"
		      "5DefIdEB4Z_E0E0uECsfhTr2ijyTAe_16rustc_query_impl",
		 "def 8 DefId"},
		{TASK "RNtNtCsjrHSEGnQ3l9_3std4path4PathuE0E0uECs5FxD4tM6viY_14rustc_metadata",
		 "? - "},
		/* Before, the cache was an argument of a configuration. */
		{"_RINvNtNtCs1_18rustc_query_system5query8plumbing17try_execute_query"
		 "INtCs2_16rustc_query_impl13DynamicConfig"
		 "INtNtNtCs1_18rustc_query_system5query6caches10DefIdCache"
		 "INtNtNtCs3_12rustc_middle5query5erase6ErasedAhj18_EEKb0_Kb0_Kb0_E"
		 "NtNtCs2_16rustc_query_impl8plumbing9QueryCtxtKb0_ECs2_16rustc_query_impl",
		 "def 24 DefId"},
		/* A guard holds the key. */
		{GUARD(DEF_2), "def - DefId"},
		{GUARD("NtCs2_12rustc_hir_id7OwnerId"), "local - OwnerId"},
		{GUARD("u"), "unit - ()"},
		{GUARD("T" DEF_2 "jE"), "? - (DefId, usize)"},
		{"_RNvXs2_NtNtCs1_18rustc_query_system5query8plumbingINtB5_"
		 "8JobOwnerNtNtCs2_"
		 "10rustc_span6def_id8CrateNumENtNtNtCs3_4core3ops4drop4Drop4drop"
		 "Cs4_16rustc_query_impl",
		 "crate - CrateNum"},
		{"_RNvXs_NtCs1_16rustc_query_impl9executionINtB4_8OtherJobuENtNtNtCs3_"
		 "4core3"
		 "ops4drop4Drop4dropB6_",
		 "? - "},
		{"_RNvXs_NtCs1_16rustc_query_impl9executionINtB4_"
		 "14ActiveJobGuarduENtNtNtCs3_"
		 "4core3ops4drop4Drip4dropB6_",
		 "? - "},
		/* A table holds the key and the size. */
		{TABLE("T" DEF_2 RESULT "E"), "def 28 DefId"},
		{TABLE("TT" DEF_2 "jE" RESULT "E"), "? 28 (DefId, usize)"},
		{TABLE(DEF_2), "? - "},
		{TABLE("T" DEF_2 "jE"), "? - "},
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		char shown[KEY_TYPE_MAX + 32];

		print_key(rows[i].symbol, shown);
		row_text(rows[i].symbol, shown, rows[i].shown);
	}
}

TEST_CASE(a_long_type_is_unknown)
{
	char symbol[1024] = BODY CACHES "12DefaultCacheT", *end = symbol + strlen(symbol);

	for (int i = 0; i < KEY_TYPE_MAX / 4; i++)
		end = stpcpy(end, "NtC1a2Ty");
	strcpy(end, "E" VALUE("20") "EKb0_EB4_");
	assert_string_equal(key_name__parse(symbol).type, "");
}

TEST_MAIN(NULL, NULL)
