// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/llvm_words.h"

#include <string.h>

#include "base/array.h"

enum {
	DWARF,
	OBJECT,
	BITCODE,
	IMPORT,
	MAKING,
	FREEING,
};

const struct llvm_words llvm_words[] = {
	[DWARF] = {"debug information (DWARF)", LLVM_MACHINE_CODE, true},
	[OBJECT] = {"writing the object file", LLVM_MACHINE_CODE, true},
	[BITCODE] = {"bitcode", LLVM_ELSE, true},
	[IMPORT] = {"LTO: import of functions", LLVM_ELSE, false},
	[MAKING] = {"making LLVM's code", LLVM_ELSE, false},
	[FREEING] = {"freeing LLVM's code", LLVM_ELSE, false},
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
