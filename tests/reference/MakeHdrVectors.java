/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Histograms as another implementation writes and reads them: HdrHistogram for Java
 * (Debian package libhdrhistogram-java).
 *
 *   java -cp /usr/share/java/hdrhistogram.jar MakeHdrVectors.java > hdr_vectors.txt
 *   java -cp /usr/share/java/hdrhistogram.jar MakeHdrVectors.java read < encoded.txt
 *
 * The second form reads lines "NAME BASE64" and tells what it finds in them, in the same
 * form.  One vector is
 *
 *   vector NAME DIGITS LOWEST
 *   encoded BASE64
 *   payload HEX                 (the counts before compression; short ones only)
 *   total COUNT MIN MAX MEAN    (MIN, MAX: ends of the buckets; absent where COUNT is 0)
 *   percentile P VALUE
 *   bucket LOW HIGH COUNT
 *   end
 */
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.Random;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;

public class MakeHdrVectors {
    private static final double[] PERCENTILES = {0.1, 1, 10, 25, 50, 75, 90, 95, 99, 99.9, 99.99, 100};
    private static final int HEADER_BYTES = 40;
    private static final int PAYLOAD_SHOWN = 2000;

    private static void show(String name, Histogram h) throws Exception {
        ByteBuffer packed = ByteBuffer.allocate(h.getNeededByteBufferCapacity());
        int length = h.encodeIntoCompressedByteBuffer(packed);
        byte[] bytes = java.util.Arrays.copyOf(packed.array(), length);
        System.out.println("vector " + name + " " + h.getNumberOfSignificantValueDigits() + " "
            + h.getLowestDiscernibleValue());
        System.out.println("encoded " + Base64.getEncoder().encodeToString(bytes));
        tell(Histogram.decodeFromCompressedByteBuffer(ByteBuffer.wrap(bytes), 0));
    }

    private static void tell(Histogram h) {
        ByteBuffer plain = ByteBuffer.allocate(h.getNeededByteBufferCapacity());
        int length = h.encodeIntoByteBuffer(plain);
        if (length - HEADER_BYTES <= PAYLOAD_SHOWN) {
            StringBuilder hex = new StringBuilder();
            for (int i = HEADER_BYTES; i < length; i++)
                hex.append(String.format("%02x", plain.array()[i]));
            System.out.println("payload " + hex);
        }
        if (h.getTotalCount() == 0) {
            System.out.println("total 0");
        } else {
            System.out.println("total " + h.getTotalCount() + " "
                + h.lowestEquivalentValue(h.getMinValue()) + " " + h.getMaxValue() + " " + h.getMean());
            for (double p : PERCENTILES)
                System.out.println("percentile " + p + " " + h.getValueAtPercentile(p));
            for (HistogramIterationValue v : h.recordedValues())
                System.out.println("bucket " + h.lowestEquivalentValue(v.getValueIteratedTo()) + " "
                    + h.highestEquivalentValue(v.getValueIteratedTo()) + " " + v.getCountAtValueIteratedTo());
        }
        System.out.println("end");
    }

    private static Histogram of(int digits, long... values) {
        Histogram h = new Histogram(digits);
        for (long v : values)
            h.recordValue(v);
        return h;
    }

    private static Histogram spread(Histogram h, int n, long seed) {
        Random random = new Random(seed);
        for (int i = 0; i < n; i++)
            h.recordValue((long) (400000 * Math.exp(random.nextGaussian() * 0.8)));
        return h;
    }

    private static void ours() throws Exception {
        Histogram h;
        show("empty", of(3));
        show("zero", of(3, 0));
        show("one", of(3, 1));
        show("one-682", of(3, 682));
        show("single-zero-between", of(3, 5, 7));
        show("eight", of(3, 1000000, 2000000, 3000000, 4000000, 5000000, 6000000, 7000000, 8000000));
        h = new Histogram(3);
        for (long ms = 1; ms <= 100; ms++)
            h.recordValue(ms * 1000000);
        show("hundred", h);
        show("bucket-ends", of(3, 2047, 2048, 2049, 4094, 4095, 4096, 4097, 4099, 4100, 8191, 8192, 8195,
            8196, (1L << 40) - 1, 1L << 40, (1L << 40) + (1L << 29), (1L << 62) - 1, 1L << 62));
        show("nanosecond-and-hour", of(3, 1, 3600000000000L));
        show("largest", of(3, Long.MAX_VALUE));
        h = new Histogram(3);
        h.recordValueWithCount(123456, 1000000);
        show("all-equal", h);
        h = new Histogram(3);
        h.recordValueWithCount(300000, 600000000L);
        h.recordValueWithCount(40000000, 400000000L);
        show("bimodal-billion", h);
        h = new Histogram(3);
        h.recordValueWithCount(5000, 1L << 62);
        show("count-2-62", h);
        h = new Histogram(3);
        h.recordValueWithCount(5000, 1L << 50); /* above 2^53 Java's ranks are rounded */
        h.recordValueWithCount(7000000000L, 3);
        show("count-2-50", h);
        show("spread", spread(new Histogram(3), 1200, 7));
        show("fixed-range", spread(new Histogram(1, 3600000000000L, 3), 500, 8));
    }

    private static void foreign() throws Exception {
        for (int digits : new int[] {1, 2, 4, 5})
            show("digits-" + digits, spread(new Histogram(digits), 400, digits));
        show("lowest-1000", spread(new Histogram(1000, 3600000000000L, 3), 400, 11));
        show("lowest-1023-digits-2", spread(new Histogram(1023, 3600000000000L, 2), 400, 12));
        show("digits-1-large", of(1, Long.MAX_VALUE, 1, 31, 32, 33, 1L << 50));
        show("digits-5-large", of(5, Long.MAX_VALUE, 1, 262143, 262144, 262146, 1L << 50));
        Histogram shifted = new Histogram(1, 3600000000000L, 3);
        spread(shifted, 300, 13);
        shifted.shiftValuesLeft(2);
        show("shifted", shifted);
    }

    public static void main(String[] args) throws Exception {
        if (args.length == 0) {
            ours();
            foreign();
            return;
        }
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null;) {
            String[] words = line.split(" ");
            byte[] bytes = Base64.getDecoder().decode(words[1]);
            Histogram h = Histogram.decodeFromCompressedByteBuffer(ByteBuffer.wrap(bytes), 0);
            System.out.println("vector " + words[0] + " " + h.getNumberOfSignificantValueDigits() + " "
                + h.getLowestDiscernibleValue());
            tell(h);
        }
    }
}
