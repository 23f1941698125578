// Lucene as Anserini uses it for learned sparse vectors: an impact is a term's frequency, a score is boost times frequency.
// Serves one request a line on standard input:
//   index FOLDER RAW           index the documents in RAW, one segment
//   open FOLDER RAW            open the index, and the queries in RAW
//   search NUMBER K            one query: nanoseconds of processor time, then documents
//   rate K THREADS             all queries: queries a second
import java.io.*;
import java.lang.management.*;
import java.nio.*;
import java.nio.channels.*;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.core.WhitespaceAnalyzer;
import org.apache.lucene.analysis.tokenattributes.*;
import org.apache.lucene.document.*;
import org.apache.lucene.index.*;
import org.apache.lucene.search.*;
import org.apache.lucene.search.similarities.Similarity;
import org.apache.lucene.store.*;

public class Lucene {
  static class Impact extends Similarity {
    public long computeNorm(FieldInvertState state) { return 1; }
    public SimScorer scorer(float boost, CollectionStatistics collection, TermStatistics... terms) {
      return new SimScorer() { public float score(float frequency, long norm) { return boost * frequency; } };
    }
  }

  static class Vector extends TokenStream {
    final CharTermAttribute term = addAttribute(CharTermAttribute.class);
    final TermFrequencyAttribute frequency = addAttribute(TermFrequencyAttribute.class);
    Raw raw;
    long at, end;
    public boolean incrementToken() {
      if (at >= end) return false;
      clearAttributes();
      term.setEmpty().append("t" + raw.term(at));
      frequency.setTermFrequency(raw.weight(at));
      ++at;
      return true;
    }
  }

  // Arrays as numpy's tofile writes them: indptr i8, indices i4, data i4.
  static class Raw {
    final IntBuffer[] terms, weights;
    final LongBuffer pointers;
    static final long PART = 1L << 28;
    Raw(String stem) throws IOException {
      pointers = parts(stem + ".indptr")[0].asLongBuffer();
      terms = ints(stem + ".indices");
      weights = ints(stem + ".data");
    }
    static ByteBuffer[] parts(String file) throws IOException {
      try (FileChannel channel = FileChannel.open(Paths.get(file))) {
        int count = (int) Math.max(1, (channel.size() + 4 * PART - 1) / (4 * PART));
        ByteBuffer[] parts = new ByteBuffer[count];
        for (int i = 0; i < count; ++i) {
          long start = i * 4 * PART;
          parts[i] = channel.map(FileChannel.MapMode.READ_ONLY, start, Math.min(4 * PART, channel.size() - start)).order(ByteOrder.LITTLE_ENDIAN);
        }
        return parts;
      }
    }
    static IntBuffer[] ints(String file) throws IOException { return Arrays.stream(parts(file)).map(ByteBuffer::asIntBuffer).toArray(IntBuffer[]::new); }
    int term(long at) { return terms[(int) (at / PART)].get((int) (at % PART)); }
    int weight(long at) { return weights[(int) (at / PART)].get((int) (at % PART)); }
    int rows() { return pointers.capacity() - 1; }
  }

  static void index(String folder, String stem) throws IOException {
    Raw raw = new Raw(stem);
    IndexWriterConfig config = new IndexWriterConfig(new WhitespaceAnalyzer());
    config.setSimilarity(new Impact());
    config.setRAMBufferSizeMB(512);
    FieldType type = new FieldType();
    type.setIndexOptions(IndexOptions.DOCS_AND_FREQS);
    type.setTokenized(true);
    type.setOmitNorms(true);
    type.freeze();
    Vector vector = new Vector();
    vector.raw = raw;
    Document document = new Document();
    document.add(new Field("contents", vector, type));
    try (IndexWriter writer = new IndexWriter(FSDirectory.open(Paths.get(folder)), config)) {
      for (int row = 0; row < raw.rows(); ++row) {
        vector.at = raw.pointers.get(row);
        vector.end = raw.pointers.get(row + 1);
        writer.addDocument(document);
      }
      writer.forceMerge(1);
    }
  }

  public static void main(String[] arguments) throws Exception {
    ThreadMXBean clock = ManagementFactory.getThreadMXBean();
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    IndexSearcher searcher = null;
    Query[] queries = null;
    for (String line; (line = in.readLine()) != null;) {
      String[] words = line.split(" ");
      if (words[0].equals("index")) {
        index(words[1], words[2]);
        System.out.println("done");
      } else if (words[0].equals("open")) {
        searcher = new IndexSearcher(DirectoryReader.open(MMapDirectory.open(Paths.get(words[1]))));
        searcher.setSimilarity(new Impact());
        searcher.setQueryCache(null);
        Raw raw = new Raw(words[2]);
        queries = new Query[raw.rows()];
        for (int row = 0; row < queries.length; ++row) {
          BooleanQuery.Builder builder = new BooleanQuery.Builder();
          for (long at = raw.pointers.get(row); at < raw.pointers.get(row + 1); ++at) {
            builder.add(new BoostQuery(new TermQuery(new Term("contents", "t" + raw.term(at))), raw.weight(at)), BooleanClause.Occur.SHOULD);
          }
          queries[row] = builder.build();
        }
        System.out.println("done");
      } else if (words[0].equals("search")) {
        long started = clock.getCurrentThreadCpuTime();
        TopDocs found = searcher.search(queries[Integer.parseInt(words[1])], Integer.parseInt(words[2]));
        StringBuilder out = new StringBuilder().append(clock.getCurrentThreadCpuTime() - started);
        for (ScoreDoc hit : found.scoreDocs) out.append(' ').append(hit.doc);
        System.out.println(out);
      } else {
        int k = Integer.parseInt(words[1]);
        ExecutorService pool = Executors.newFixedThreadPool(Integer.parseInt(words[2]));
        List<Future<?>> futures = new ArrayList<>();
        long started = System.nanoTime();
        for (Query query : queries) {
          final IndexSearcher shared = searcher;
          futures.add(pool.submit(() -> shared.search(query, k)));
        }
        for (Future<?> future : futures) future.get();
        pool.shutdown();
        System.out.println(queries.length / ((System.nanoTime() - started) / 1e9));
      }
      System.out.flush();
    }
  }
}
