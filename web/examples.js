/* examples.js: two articles on CuTe's layouts, section by section, so that they can be read along; and code as it stands
 * in kernels.
 *
 * A section is [title, example...], an example {title, e, ...}: `e` its expressions side by side, the rest
 * what to look at them with: fields of a document (state.js), and which named value to pick. */

const A = `auto a = make_layout(make_shape(_2{}, _3{}),
                     make_stride(_3{}, _1{}));`;
const B = `auto b = make_layout(make_shape(_2{}, _2{}),
                     make_stride(_1{}, _2{}));`;
const H = `auto h = make_layout(
    make_shape(_2{}, make_shape(_2{},_3{})),
    make_stride(_3{}, make_stride(_6{},_1{})));`;
const PADDED = `auto padded = make_layout(make_shape(_2{},_3{}),
                          make_stride(_5{},_1{}));`;
const BLOCKED = 'blocked_product((2,3):(3,1), (2,2):(1,2))';
const RAKED = 'raked_product((2,3):(3,1), (2,2):(1,2))';
const BY_BLOCK = { colors: 'div', n: 6 };

const LAYOUTS = [
    [
        'A 2×3 matrix, stored row by row',
        {
            title: 'A layout answers layout(1,2)',
            pick: 'layout',
            at: 5,
            e: [
                `using namespace cute;
auto layout = make_layout(make_shape(_2{}, _3{}),
                          make_stride(_3{}, _1{}));
layout(1,2);`,
            ],
        },
    ],

    [
        'Tuples: what the parentheses hold',
        {
            title: 'get<0>, get<1>',
            e: [
                `auto t = make_tuple(2, _3{});
print(get<0>(t));
get<1>(t)`,
            ],
        },
        {
            title: 'Static and run-time integers',
            e: [
                `int n = 3;
auto fixed = make_layout(make_shape(_2{}, _3{}),
                         make_stride(_3{}, _1{}));
auto mixed = make_layout(make_shape(_2{}, n),
                         make_stride(n, _1{}));
print(fixed);
mixed`,
            ],
        },
        {
            title: 'Tuples nest',
            e: [
                `auto t = make_tuple(_2{}, make_tuple(_3{}, _4{}));
print(get<0>(t));
print(get<1>(t));
print(get<1,0>(t));
get<1,1>(t)`,
            ],
        },
    ],

    [
        'IntTuple: shapes, strides, coordinates',
        {
            title: 'rank, depth and size of (2,(3,4))',
            e: [
                `auto t = (2,(3,4));
print(rank(t));
print(depth(t));
size(t)`,
            ],
        },
        {
            title: '6 and (6) differ in depth',
            e: [
                `print(depth(6));
print(depth((6)));
rank((6))`,
            ],
        },
        {
            title: 'The same leaves, another nesting',
            e: [
                `print(rank((2,3,4)));
print(rank((2,(3,4))));
print(depth((2,3,4)));
depth((2,(3,4)))`,
            ],
        },
    ],

    [
        'Layout: shape and stride together',
        { title: 'Row-major beside column-major', at: 3, e: ['(2,3):(3,1)', '(2,3):(1,2)'] },
        { title: 'No stride: LayoutLeft', e: ['make_layout(make_shape(_2{},_3{}))'] },
        {
            title: 'LayoutLeft and LayoutRight',
            e: [
                'make_layout(make_shape(_2{},_3{}), LayoutLeft{})',
                'make_layout(make_shape(_2{},_3{}), LayoutRight{})',
            ],
        },
    ],

    [
        'Nested layouts: coordinates inside a mode',
        { title: 'h(m,(a,b)) = 3m + 6a + b', at: 9, e: [`${H}\nh`] },
        { title: 'h(1,(0,2))', pick: 'h', at: 9, e: [`${H}\nh(make_coord(1,make_coord(0,2)));`] },
        { title: 'Fix a: two matrices', e: [`${H}\nh(_,make_coord(0,_))`, `${H}\nh(_,make_coord(1,_))`] },
        {
            title: 'shape<1> and size<1>',
            e: [
                `${H}
print(shape<1>(h));
print(size<1>(h));
print(shape<1,1>(h));
layout<1>(h);`,
            ],
        },
        {
            title: 'Default strides of a nested shape',
            e: [
                'make_layout(make_shape(_2{},make_shape(_2{},_3{})))',
                'make_layout(make_shape(_2{},make_shape(_2{},_3{})),LayoutRight{})',
            ],
        },
    ],

    [
        'One integer as a coordinate',
        { title: 'row(3) splits 3 along the shape', labels: 'index', at: 3, e: ['(2,3):(3,1)'] },
        { title: 'Index 3 in two layouts', link: 'index', at: 3, e: ['(2,3):(3,1)', '(2,3):(1,2)'] },
        {
            title: 'Three ways to say it: h(1,(0,2)), h(1,4), h(9)',
            pick: 'h',
            at: 9,
            e: [
                `${H}
print(h(make_coord(1,make_coord(0,2))));
print(h(1,4));
h(9)`,
            ],
        },
        { title: 'The coordinates of h', labels: 'coord', at: 9, e: [`${H}\nh`] },
    ],

    [
        'size and cosize',
        { title: 'A padded matrix leaves gaps', e: [`${PADDED}\npadded`] },
        {
            title: 'size counts cells, cosize reaches',
            pick: 'padded',
            e: [
                `${PADDED}
print(size(padded));
cosize(padded)`,
            ],
        },
        {
            title: 'Stride 0: broadcast',
            at: 3,
            e: [
                `auto broadcast = make_layout(make_shape(_2{},_3{}),
                             make_stride(_0{},_1{}));
broadcast`,
            ],
        },
    ],

    [
        'flatten and coalesce',
        {
            title: 'flatten drops the nesting',
            link: 'index',
            e: ['(2,(2,3)):(3,(6,1))', 'flatten((2,(2,3)):(3,(6,1)))'],
        },
        {
            title: 'coalesce joins what is contiguous',
            link: 'index',
            e: ['(2,3):(1,2)', 'coalesce((2,3):(1,2))'],
        },
    ],
];

const PRODUCTS = [
    [
        'From 3:1 and 4:1',
        {
            title: 'Four groups of three',
            colors: 'div',
            n: 3,
            e: [
                `auto a = make_layout(_3{}, _1{});
auto b = make_layout(_4{}, _1{});
logical_product(a, b)`,
            ],
        },
    ],

    [
        'With gaps: where does the next group go?',
        {
            title: 'The gaps are filled first',
            colors: 'mode1',
            e: [
                `auto a = make_layout(_3{}, _2{});
auto b = make_layout(_4{}, _1{});
logical_product(a, b)`,
            ],
        },
        {
            title: 'size, cosize and the span differ',
            e: [
                `auto a = 3:2;
print(size(a));
print(cosize(a));
a`,
            ],
        },
    ],

    [
        'Where the groups begin',
        {
            title: 'complement(3:1), complement(3:2)',
            e: [
                `print(complement(3:1));
complement(3:2)`,
            ],
        },
        {
            title: 'composition with the tiler',
            e: [
                `auto c = complement(3:2);
auto starts = composition(c, 4:1);
print(c);
starts`,
            ],
        },
        {
            title: 'The three steps together',
            colors: 'mode1',
            e: [
                `auto block = 3:2;
auto starts = composition(complement(block), 4:1);
make_layout(block, starts)`,
            ],
        },
    ],

    [
        'The second layout orders the groups',
        {
            title: 'Groups 0, 2, 1, 3',
            colors: 'div',
            n: 3,
            e: [
                `auto b = make_layout(make_shape(_2{},_2{}),
                     make_stride(_2{},_1{}));
logical_product(make_layout(_3{}), b)`,
            ],
        },
    ],

    [
        'From three elements to a 2×3 block',
        { title: 'The block and the grid of blocks', e: ['(2,3):(3,1)', '(2,2):(1,2)'] },
        { title: 'logical_product(a, b)', ...BY_BLOCK, e: [`${A}\n${B}\nlogical_product(a,b)`] },
        {
            title: 'lp((1,2),(1,1)) is 23',
            pick: 'lp',
            at: 23,
            ...BY_BLOCK,
            e: [
                `${A}
${B}
auto lp = logical_product(a,b);
lp(make_coord(1,2), make_coord(1,1))`,
            ],
        },
    ],

    [
        'zipped, tiled, flat: one formula, three bracketings',
        {
            title: 'The three, and what they ask for',
            pick: 'zp',
            at: 23,
            e: [
                `${A}
${B}
auto zp = zipped_product(a,b);
auto tp = tiled_product(a,b);
auto fp = flat_product(a,b);
print(zp(make_coord(1,2), make_coord(1,1)));
print(tp(make_coord(1,2), 1, 1));
fp(1, 2, 1, 1)`,
            ],
        },
        {
            title: 'tiled beside flat',
            link: 'index',
            at: 23,
            e: ['tiled_product((2,3):(3,1), (2,2):(1,2))', 'flat_product((2,3):(3,1), (2,2):(1,2))'],
        },
    ],

    [
        'A tuple as second argument works by mode',
        {
            title: 'A layout beside a tuple',
            link: 'offset',
            e: ['logical_product((2,3):(3,1), make_layout((2,2)))', 'logical_product((2,3):(3,1), (2,2))'],
        },
        { title: 'The trap: two coordinates, one offset', at: 4, e: ['logical_product((2,3):(3,1), (2,2))'] },
        {
            title: 'By mode, with strides that fit',
            ...BY_BLOCK,
            e: [
                `${A}
auto by_mode = make_tile(
    make_layout(_2{}, _3{}),
    make_layout(_2{}, _4{}));
auto ml = logical_product(a, by_mode);
auto mz = zipped_product(a, by_mode);
auto mt = tiled_product(a, by_mode);
auto mf = flat_product(a, by_mode);
ml`,
            ],
        },
    ],

    [
        'blocked_product: blocks as a matrix',
        { title: 'Blocks stay together', ...BY_BLOCK, e: [`${A}\n${B}\nblocked_product(a,b)`] },
    ],

    [
        'raked_product: fast and slow exchanged',
        { title: 'Blocks interleave', ...BY_BLOCK, e: [`${A}\n${B}\nraked_product(a,b)`] },
        { title: 'Blocked beside raked, by offset', link: 'offset', at: 9, ...BY_BLOCK, e: [BLOCKED, RAKED] },
        { title: 'Blocked beside raked, by coordinate', at: 9, ...BY_BLOCK, e: [BLOCKED, RAKED] },
    ],

    [
        'make_tiled_copy uses raked_product',
        {
            title: 'Which thread owns which place',
            labels: 'tv',
            colors: 'mod',
            n: 4,
            e: [
                'blocked_product(make_layout(_4{}), make_layout(_2{}))',
                'raked_product(make_layout(_4{}), make_layout(_2{}))',
            ],
        },
        {
            title: 'The inverse: thread and value to place',
            colors: 'mode0',
            e: [
                `auto thr_layout = make_layout(_4{});
auto val_layout = make_layout(_2{});
auto layout_mn = raked_product(thr_layout, val_layout);
right_inverse(layout_mn)
    .with_shape(make_shape(size(thr_layout), size(val_layout)))`,
            ],
        },
    ],

    [
        'TiledMMA uses tiled_product',
        {
            title: '32 lanes, 2×2×1 atoms',
            colors: 'div',
            e: [
                `tiled_product(
    make_layout(_32{}),
    make_layout(make_shape(_2{},_2{},_1{})))`,
            ],
        },
    ],

    [
        'logical_product inside retile',
        {
            title: 'Ids that skip four',
            e: [
                `logical_product(make_layout(_4{}),
                make_layout(_2{},_2{}))`,
            ],
        },
    ],

    [
        'tile_to_shape: when the shape is known',
        {
            title: 'Equal to the blocked product',
            e: ['tile_to_shape((2,3):(3,1), make_shape(4,6))', BLOCKED],
        },
    ],
];

const PROGRAMS = [
    [
        'The traits of a kernel',
        {
            title: 'Every layout in a struct',
            pick: 'SmemLayout',
            e: [
                `struct Traits {
  using Element = half_t;
  static constexpr int kM = 16, kN = 64;
  static constexpr int kRow = kN % 64 == 0 ? 64 : 32;
  using SmemAtom = decltype(composition(
      Swizzle<3,3,3>{},
      Layout<Shape<_8, Int<kRow>>, Stride<Int<kRow>, _1>>{}));
  using SmemLayout = decltype(tile_to_shape(
      SmemAtom{}, Shape<Int<kM>, Int<kN>>{}));
  static constexpr int kVector =
      sizeof(uint128_t) / sizeof(Element);
  using ThrLayout = Layout<
      Shape<Int<kM>, Int<kRow / kVector>>,
      Stride<Int<kRow / kVector>, _1>>;
};`,
            ],
        },
    ],

    [
        'A kernel, as thread 0 sees it',
        {
            title: 'Its part of a tile',
            pick: 'tAgA',
            e: [
                `template <class ThrLayout>
__global__ void kernel(float const* A, int m, int k, ThrLayout thr) {
  Tensor mA = make_tensor(make_gmem_ptr(A), make_shape(m, k),
                          make_stride(k, _1{}));
  Tensor gA = local_tile(mA, make_tile(_16{}, _8{}),
                         make_coord(blockIdx.x, 0));
  Tensor tAgA = local_partition(gA, thr, threadIdx.x);
  print(tAgA.layout());
}
int main() {
  kernel<<<64, 32>>>(nullptr, 1024, 512,
                     Layout<Shape<_8,_4>, Stride<_4,_1>>{});
}`,
            ],
        },
    ],
];

const article = (title, sections) => ({
    title,
    sections: sections.map(([name, ...items]) => ({ title: name, items })),
});

export const ARTICLES = [
    article('Layouts: from tuples to coordinates', LAYOUTS),
    article('Products: from three elements to threads and data', PRODUCTS),
    article('Programs: code as it stands', PROGRAMS),
];
