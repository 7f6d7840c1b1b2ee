// One writable tag of every S7 type in DB1, and what it holds after a write.
import { opcua } from './opcua_client.mjs';

const { DataType, VariantArrayType } = opcua;

/** 64-bit integers of node-opcua: [high, low]. */
const int64 = (high, low) => [high, low];

/** {name, type, byte, dataType, value, bytes}: `bytes` is what the PLC then holds, in hex. */
export const scalars = [
    { name: 'bool', type: 'BOOL', byte: 0, address: 'DB1.DBX0.3', dataType: DataType.Boolean, value: true, bytes: '08' },
    { name: 'byte', type: 'BYTE', byte: 1, dataType: DataType.Byte, value: 0xAB, bytes: 'ab' },
    { name: 'word', type: 'WORD', byte: 2, dataType: DataType.UInt16, value: 0xBEEF, bytes: 'beef' },
    { name: 'dword', type: 'DWORD', byte: 4, dataType: DataType.UInt32, value: 0xDEADBEEF, bytes: 'deadbeef' },
    { name: 'lword', type: 'LWORD', byte: 8, dataType: DataType.UInt64, value: int64(0x01234567, 0x89ABCDEF), bytes: '0123456789abcdef' },
    { name: 'sint', type: 'SINT', byte: 16, dataType: DataType.SByte, value: -100, bytes: '9c' },
    { name: 'usint', type: 'USINT', byte: 17, dataType: DataType.Byte, value: 200, bytes: 'c8' },
    { name: 'int', type: 'INT', byte: 18, dataType: DataType.Int16, value: -12345, bytes: 'cfc7' },
    { name: 'uint', type: 'UINT', byte: 20, dataType: DataType.UInt16, value: 54321, bytes: 'd431' },
    { name: 'dint', type: 'DINT', byte: 24, dataType: DataType.Int32, value: -123456789, bytes: 'f8a432eb' },
    { name: 'udint', type: 'UDINT', byte: 28, dataType: DataType.UInt32, value: 4123456789, bytes: 'f5c6f515' },
    { name: 'lint', type: 'LINT', byte: 32, dataType: DataType.Int64, value: int64(0xFFFFFFFF, 0xFFFFFFFE), bytes: 'fffffffffffffffe' },
    { name: 'ulint', type: 'ULINT', byte: 40, dataType: DataType.UInt64, value: int64(0xFFFFFFFF, 0xFFFFFFFF), bytes: 'ffffffffffffffff' },
    { name: 'real', type: 'REAL', byte: 48, dataType: DataType.Float, value: -0.15625, bytes: 'be200000' },
    { name: 'lreal', type: 'LREAL', byte: 56, dataType: DataType.Double, value: 1.5e300, bytes: '7e41eb2d66005835' },
    { name: 'char', type: 'CHAR', byte: 94, dataType: DataType.Byte, value: 0x5A, bytes: '5a' },
    { name: 'text', type: 'STRING[20]', byte: 64, dataType: DataType.String, value: 'Charge 4711', bytes: null },
];
export const array = {
    name: 'array', type: 'ARRAY[0..9] OF INT', byte: 96, dataType: DataType.Int16,
    arrayType: VariantArrayType.Array, value: Int16Array.from([1, -2, 3, -4, 5, -6, 7, -8, 9, -10]),
};

const start = { 1: 'B', 2: 'W', 4: 'D' };
const address = ({ name, type, byte, address: stated }) => {
    if (stated) {
        return stated;
    }
    const width = /^(BYTE|CHAR|SINT|USINT|STRING|LWORD|LINT|ULINT|LREAL|ARRAY)/.test(type) ? 1
        : /^(WORD|INT|UINT)/.test(type) ? 2 : 4;
    return `DB1.DB${start[width]}${byte}`;
};

/** The tags of all of them for a configuration. */
export const tags = () => [...scalars, array].map((each) => ({
    path: `every/${each.name}`, address: address(each), type: each.type, writable: true,
}));
