// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/llvm_words.h"

#include <string.h>

#include "base/array.h"

static const struct {
	const char *text;
	enum llvm_work work;
} words[] = {
	{"debug information (DWARF)", LLVM_MACHINE_CODE},
	{"writing the object file", LLVM_MACHINE_CODE},
	{"bitcode", LLVM_ELSE},
	{"LTO: import of functions", LLVM_ELSE},
	{"making LLVM's code", LLVM_ELSE},
	{"freeing LLVM's code", LLVM_ELSE},
};

enum {
	DWARF,
	OBJECT,
	BITCODE,
	IMPORT,
	MAKING,
	FREEING,
};

/*
 * Classes and functions of LLVM by the beginning of their name without "llvm::" and without the
 * anonymous namespace: a list of what is easily told, for other functions stand for themselves.
 */
static const struct {
	const char *begins;
	uint8_t words;
} functions[] = {
	{"DwarfDebug", DWARF},
	{"DwarfUnit", DWARF},
	{"DwarfCompileUnit", DWARF},
	{"DwarfFile", DWARF},
	{"DwarfStringPool", DWARF},
	{"DwarfExpression", DWARF},
	{"DebugHandlerBase", DWARF},
	{"DIE", DWARF},
	{"MCDwarf", DWARF},
	{"MCAssembler", OBJECT},
	{"MCObjectStreamer", OBJECT},
	{"MCELFStreamer", OBJECT},
	{"MCObjectWriter", OBJECT},
	{"ELFObjectWriter", OBJECT},
	{"ELFWriter", OBJECT},
	{"MachObjectWriter", OBJECT},
	{"WinCOFFObjectWriter", OBJECT},
	{"WinCOFFWriter", OBJECT},
	{"BitcodeWriter", BITCODE},
	{"BitcodeReader", BITCODE},
	{"BitcodeModule", BITCODE},
	{"getLazyBitcodeModule", BITCODE},
	{"ModuleBitcodeWriter", BITCODE},
	{"ThinLTOBitcodeWriter", BITCODE},
	{"BitstreamWriter", BITCODE},
	{"BitstreamCursor", BITCODE},
	{"ValueEnumerator", BITCODE},
	{"MetadataLoader", BITCODE},
	{"WriteBitcodeToFile", BITCODE},
	{"parseBitcode", BITCODE},
	{"LLVMRustParseBitcode", BITCODE},
	{"LLVMRustThinLTOBuffer", BITCODE},
	{"FunctionImporter", IMPORT},
	{"FunctionImportGlobalProcessing", IMPORT},
	{"IRMover", IMPORT},
	{"IRLinker", IMPORT},
	{"Linker::", IMPORT},
	{"thinLTO", IMPORT},
	{"renameModuleForThinLTO", IMPORT},
	{"ComputeCrossModuleImport", IMPORT},
	{"LLVMRustPrepareThinLTO", IMPORT},
	{"LLVMRustCreateThinLTOData", IMPORT},
	{"LLVMBuild", MAKING},
	{"LLVMConst", MAKING},
	{"LLVMAdd", MAKING},
	{"LLVMSet", MAKING},
	{"LLVMRustBuild", MAKING},
	{"LLVMRustDIBuilder", MAKING},
	{"LLVMRustGetOrInsert", MAKING},
	{"DIBuilder", MAKING},
	{"Attribute", MAKING},
	{"LLVMContextImpl", FREEING},
	{"LLVMContextDispose", FREEING},
	{"LLVMDisposeModule", FREEING},
	{"Module::dropAllReferences", FREEING},
};

static const char *without(const char *name, const char *lead)
{
	size_t n = strlen(lead);

	return strncmp(name, lead, n) ? name : name + n;
}

uint32_t llvm_words__find(const char *native)
{
	const char *name = without(native, "llvm::");

	name = without(without(name, "{anonymous}::"), "(anonymous namespace)::");
	for (size_t i = 0; i < N_OF(functions); i++)
		if (!strncmp(name, functions[i].begins, strlen(functions[i].begins)))
			return functions[i].words;
	return LLVM_NO_WORDS;
}

bool llvm_words__beat_passes(uint32_t number)
{
	return number < IMPORT;
}

const char *llvm_words__text(uint32_t number)
{
	return words[number].text;
}

enum llvm_work llvm_words__work(uint32_t number)
{
	return words[number].work;
}
